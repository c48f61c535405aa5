// ergon webhook rotate.
import type { CommandCall } from '#cli/call.ts'
import { apiPut, replyOf } from '#cli/client.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { webhookPath } from '#cli/webhooks.ts'
import type { webhookWithSecret } from '#contract/webhooks/webhooks.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const made = replyOf<typeof webhookWithSecret>(await apiPut(options, webhookPath(id, '/secret')))
  if (options.json) return printJson(made)
  print(made.secret)
  tell(
    `The new secret; it is not shown again. The old one signs too until ${made.previous_secret_until ?? ''}`,
  )
}
