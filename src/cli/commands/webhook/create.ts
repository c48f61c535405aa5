// ergon webhook create.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost } from '#cli/client.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { needed, wordsOf, type WebhookSecret } from '#cli/webhooks.ts'

const EXAMPLE = '--url https://example.com/events --events balance.low,balance.depleted'

export async function run({ options }: CommandCall): Promise<void> {
  const description = textOption(options, 'description')
  const { text } = await apiPost(options, '/v1/webhooks', {
    url: needed(options, 'url', EXAMPLE),
    events: wordsOf(needed(options, 'events', EXAMPLE)),
    ...(description !== undefined && { description }),
  })
  const made = JSON.parse(text) as WebhookSecret
  if (options.json) return printJson(made)
  print(`${made.id}\n${made.secret}`)
  tell(
    `The second line is the secret; it is not shown again. Next: ergon webhook test --endpoint ${made.id} --event ${made.events[0] ?? 'balance.low'}`,
  )
}
