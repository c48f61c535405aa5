// Endpoints of webhooks as commands show them.
import { apiGet, replyOf } from './client.ts'
import type { CommandCall } from './call.ts'
import { CommandError, EXIT } from './output.ts'
import type {
  webhookDelivery,
  webhookDeliveryList,
  webhookReply,
} from '#contract/webhooks/webhooks.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type Options = CommandCall['options']
export type WebhookEntry = ReplyOf<typeof webhookReply>
export type DeliveryEntry = ReplyOf<typeof webhookDelivery>

export const webhookPath = (id: string, below = ''): string =>
  `/v1/webhooks/${encodeURIComponent(id)}${below}`

/** An option that a command cannot do without; `name` is its key in `options`, as `forwardTo`. */
export function needed(options: Options, name: string, example: string): string {
  const value = options[name]
  if (typeof value === 'string' && value !== '') return value
  const typed = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new CommandError(`--${typed} is missing`, EXIT.usage, example)
}

export const wordsOf = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

export const deliveriesOf = async (
  options: Options,
  query: Readonly<Record<string, string>>,
): Promise<{ data: DeliveryEntry[]; next_cursor: string | null }> =>
  replyOf<typeof webhookDeliveryList>(
    await apiGet(options, `/v1/webhook-deliveries?${new URLSearchParams(query).toString()}`),
  )

/** The outcome of a delivery in a few words. */
export function outcomeOf(entry: DeliveryEntry): string {
  if (entry.status === 'delivered')
    return `${entry.http_status ?? ''} in ${entry.duration_ms ?? 0} ms`
  const why = entry.error ?? 'not sent yet'
  if (entry.status === 'dead') return `given up: ${why}`
  if (entry.next_attempt_at === null) return `${why}; waits for ergon webhook resume`
  return entry.attempts === 0 ? why : `${why}; again at ${entry.next_attempt_at.slice(0, 19)}Z`
}
