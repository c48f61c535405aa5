// ergon card add: a card by the token that the processor gave for it. A number of a card is never typed here.
import type { CommandCall } from '#cli/call.ts'
import { apiPostOnce } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [token = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPostOnce(options, '/v1/payment-methods', { type: 'card', token })
  if (options.json) return print(text)
  const made = JSON.parse(text) as { id: string; action: { url: string | null } | null }
  tell(`added ${made.id}`)
  if (made.action?.url != null) tell(`Confirm with the bank: ${made.action.url}`)
}
