// ergon webhook replay.
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiPost, replyOf } from '#cli/client.ts'
import { durationMs } from '#cli/duration.ts'
import { CommandError, EXIT, printJson, tell } from '#cli/output.ts'
import { webhookPath } from '#cli/webhooks.ts'
import type { webhookReplayed } from '#contract/webhooks/webhooks.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

const EXAMPLE = 'ergon webhook replay we_… --since 24h'

type ReplayReply = Omit<ReplyOf<typeof webhookReplayed>, 'object'>

export async function run({ options, words: [id = ''] }: CommandCall): Promise<void> {
  const event = textOption(options, 'eventId')
  const ago = textOption(options, 'since')
  if ((event === undefined) === (ago === undefined))
    throw new CommandError('Give --event-id, or --since', EXIT.usage, EXAMPLE)
  const post = async (body: object): Promise<ReplayReply> =>
    replyOf<typeof webhookReplayed>(await apiPost(options, webhookPath(id, '/replay'), body))
  const delivered = options['delivered'] === true && { delivered: true }
  const replayed =
    ago === undefined
      ? await post({ event_id: event, ...delivered })
      : await replayFrom(
          new Date(Date.now() - durationMs(ago, '--since 24h')).toISOString(),
          (from) => post({ from, ...delivered }),
        )
  if (options.json) return printJson(replayed)
  const { deliveries } = replayed
  tell(deliveries === 1 ? '1 event is on its way' : `${deliveries} events are on their way`)
  if (replayed.has_more)
    tell(
      `More events of ${replayed.next_from ?? ''} than one replay takes: replay again once these have arrived`,
    )
}

/** One replay takes a bounded number of events: asks for the next ones until there are no more, or no later ones. */
export async function replayFrom(
  first: string,
  post: (from: string) => Promise<ReplayReply>,
): Promise<ReplayReply> {
  let deliveries = 0
  for (let from = first; ;) {
    const replayed = await post(from)
    deliveries += replayed.deliveries
    const { next_from: next } = replayed
    if (next === null || next <= from) return { ...replayed, deliveries }
    from = next
  }
}
