// ergon refund: gives back what is not spent of a payment.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, apiPostOnce, replyOf } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, tell } from '#cli/output.ts'
import type { refundReply, topupReply } from '#contract/payments/payments.ts'

export async function run({ options, words: [payment = ''] }: CommandCall): Promise<void> {
  const amount = textOption(options, 'amount')
  const path = `/v1/topups/${encodeURIComponent(payment)}`
  const answer = await apiPostOnce(
    options,
    `${path}/refunds`,
    amount === undefined ? {} : { amount },
    { look: 'ergon payments' },
  )
  if (options.json) return print(answer.text)
  const made = replyOf<typeof refundReply>(answer)
  const { transfer } = replyOf<typeof topupReply>(await apiGet(options, path))
  const next =
    transfer === null
      ? 'The bank may still refuse'
      : 'The operator sends the tokens to the wallet that paid, or refuses'
  tell(
    `${dollars(made.amount_pusd)} ${made.unit} go back: ${made.id}\n${next}, then they are balance again: ergon ledger --id ${made.id}`,
  )
}
