// ergon webhook create.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { print, printJson, tell } from '#cli/output.ts'
import { needed, wordsOf } from '#cli/webhooks.ts'
import type { webhookWithSecret } from '#contract/webhooks/webhooks.ts'

const EXAMPLE = '--url https://example.com/events --events balance.low,balance.depleted'

export async function run({ options }: CommandCall): Promise<void> {
  const description = textOption(options, 'description')
  const answer = await apiPost(options, '/v1/webhooks', {
    url: needed(options, 'url', EXAMPLE),
    events: wordsOf(needed(options, 'events', EXAMPLE)),
    ...(description !== undefined && { description }),
  })
  const made = replyOf<typeof webhookWithSecret>(answer)
  if (options.json) return printJson(made)
  print(`${made.id}\n${made.secret}`)
  tell(
    `The second line is the secret; it is not shown again. Next: ergon webhook test --endpoint ${made.id} --event ${made.events[0] ?? 'balance.low'}`,
  )
}
