// ergon topup cancel: gives up a payment by card that is under way.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [payment = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, `/v1/topups/${encodeURIComponent(payment)}`)
  if (options.json) print(text)
  else tell(`canceled ${payment}: nothing was paid`)
}
