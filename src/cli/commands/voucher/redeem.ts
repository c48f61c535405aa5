// ergon voucher redeem.
import type { CommandCall } from '#cli/call.ts'
import { apiPostOnce } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [code = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPostOnce(
    options,
    '/v1/vouchers/redeem',
    { code },
    { look: 'ergon balance' },
  )
  if (options.json) return print(text)
  const made = JSON.parse(text) as { amount_pusd: string; unit: string; expires_at: string | null }
  const until = made.expires_at === null ? '' : `, until ${made.expires_at}`
  tell(`${dollars(made.amount_pusd)} ${made.unit} are in the balance${until}`)
}
