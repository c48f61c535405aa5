// ergon account restore.
import { apiPost } from '#cli/client.ts'
import type { CommandCall } from '#cli/call.ts'
import { printJson, tell } from '#cli/output.ts'

export async function run({ options }: CommandCall): Promise<void> {
  const { text } = await apiPost(options, '/v1/account/restore', {})
  const status = JSON.parse(text) as { readonly id: string }
  if (options.json) return printJson(status)
  tell(`${status.id} is as before`)
}
