// ergon webhook delete.
import type { CommandCall } from '#cli/call.ts'
import { apiDelete, replyOf } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import { webhookPath } from '#cli/webhooks.ts'
import type { webhookDeleted } from '#contract/webhooks/webhooks.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiDelete(options, webhookPath(id))
  if (options.json) printJson(replyOf<typeof webhookDeleted>({ text }))
  else tell(`${id} is deleted`)
}
