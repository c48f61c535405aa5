// ergon refund: gives back what is not spent of a payment.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPostOnce } from '#cli/client.ts'
import { dollars } from '#cli/money.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [payment = ''] }: CommandCall): Promise<void> {
  const amount = textOption(options, 'amount')
  const path = `/v1/topups/${encodeURIComponent(payment)}/refunds`
  const { text } = await apiPostOnce(options, path, amount === undefined ? {} : { amount })
  if (options.json) return print(text)
  const made = JSON.parse(text) as { id: string; amount_pusd: string; unit: string }
  tell(
    `${dollars(made.amount_pusd)} ${made.unit} go back: ${made.id}\nThe bank may still refuse, then they are balance again: ergon ledger --id ${made.id}`,
  )
}
