// ergon voucher redeem.
import type { CommandCall } from '#cli/call.ts'
import { apiPostOnce, replyOf } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, tell } from '#cli/output.ts'
import type { voucherReply } from '#contract/payments/payments.ts'

export async function run({ options, words: [code = ''] }: CommandCall): Promise<void> {
  const answer = await apiPostOnce(
    options,
    '/v1/vouchers/redeem',
    { code },
    { look: 'ergon balance' },
  )
  if (options.json) return print(answer.text)
  const made = replyOf<typeof voucherReply>(answer)
  const until = made.expires_at === null ? '' : `, until ${made.expires_at}`
  tell(`${dollars(made.amount_pusd)} ${made.unit} are in the balance${until}`)
}
