// ergon card remove.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [card = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, `/v1/payment-methods/${encodeURIComponent(card)}`)
  if (options.json) print(text)
  else tell(`removed ${card}`)
}
