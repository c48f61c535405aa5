// ergon webhook delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import { webhookPath } from '#cli/webhooks.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, webhookPath(id))
  if (options.json) printJson(JSON.parse(text) as object)
  else tell(`${id} is deleted`)
}
