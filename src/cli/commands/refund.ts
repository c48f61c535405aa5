// ergon refund: gives back what is not spent of a payment.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, apiPostOnce } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [payment = ''] }: CommandCall): Promise<void> {
  const amount = textOption(options, 'amount')
  const path = `/v1/topups/${encodeURIComponent(payment)}`
  const { text } = await apiPostOnce(
    options,
    `${path}/refunds`,
    amount === undefined ? {} : { amount },
    { look: 'ergon payments' },
  )
  if (options.json) return print(text)
  const made = JSON.parse(text) as { id: string; amount_pusd: string; unit: string }
  const { transfer } = JSON.parse((await apiGet(options, path)).text) as { transfer: object | null }
  const next =
    transfer === null
      ? 'The bank may still refuse'
      : 'The operator sends the tokens to the wallet that paid, or refuses'
  tell(
    `${dollars(made.amount_pusd)} ${made.unit} go back: ${made.id}\n${next}, then they are balance again: ergon ledger --id ${made.id}`,
  )
}
