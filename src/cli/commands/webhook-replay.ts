// ergon webhook replay.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost } from '#cli/client.ts'
import { durationMs } from '#cli/duration.ts'
import { printJson, tell } from '#cli/output.ts'
import { webhookPath } from '#cli/webhooks.ts'

type ReplayReply = { deliveries: number; has_more: boolean; next_from: string | null }

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const event = textOption(options, 'eventId')
  const ago = textOption(options, 'since')
  const { text } = await apiPost(options, webhookPath(id, '/replay'), {
    ...(event !== undefined && { event_id: event }),
    ...(ago !== undefined && {
      from: new Date(Date.now() - durationMs(ago, '--since 24h')).toISOString(),
    }),
    ...(options['delivered'] === true && { delivered: true }),
  })
  const replayed = JSON.parse(text) as ReplayReply
  if (options.json) return printJson(replayed)
  tell(`${replayed.deliveries} events are on their way`)
  if (replayed.has_more) tell(`There are more, from ${replayed.next_from ?? ''}: replay again`)
}
