// ergon webhook pause.
import type { CommandCall } from '#cli/call.ts'
import { apiPatch, replyOf } from '#cli/client.ts'
import { printJson, tell } from '#cli/output.ts'
import { webhookPath } from '#cli/webhooks.ts'
import type { webhookReply } from '#contract/webhooks/webhooks.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPatch(options, webhookPath(id), { paused: true })
  if (options.json) printJson(replyOf<typeof webhookReply>({ text }))
  else tell(`${id} is paused; events wait`)
}
