// ergon webhook rotate.
import type { CommandCall } from '#cli/call.ts'
import { apiPut } from '#cli/client.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { webhookPath, type WebhookSecret } from '#cli/webhooks.ts'

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const { text } = await apiPut(options, webhookPath(id, '/secret'))
  const made = JSON.parse(text) as WebhookSecret
  if (options.json) return printJson(made)
  print(made.secret)
  tell(
    `The new secret; it is not shown again. The old one signs too until ${made.previous_secret_until ?? ''}`,
  )
}
