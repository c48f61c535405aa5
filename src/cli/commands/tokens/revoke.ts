// ergon tokens revoke.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { print, tell } from '#cli/output.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, `/v1/tokens/${encodeURIComponent(id)}`)
  if (options.json) return print(text)
  tell(`${id} is revoked`)
}
