// ergon webhook listen: reads the events of the account and forwards each to a local address, signed like a delivery. Its
// secret follows from the token, so it stays the same from one call to the next.
import { createHmac } from 'node:crypto'
import { sleep } from '#base/clock.ts'
import * as http from '#base/node-http.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, Unreachable, replyOf } from '#cli/client.ts'
import { CommandError, EXIT, print, tell } from '#cli/output.ts'
import { tokenOf } from '#cli/profile.ts'
import { needed, wordsOf } from '#cli/webhooks.ts'
import { signedHeaders } from '#contract/webhooks/webhook-signature.ts'
import type { EventBody, eventList } from '#contract/webhooks/webhooks.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type EventPageReply = Pick<ReplyOf<typeof eventList>, 'data' | 'has_more'>

const EVERY_MS = 1000
const ANSWER_MS = 15_000
const SECRET_BYTES = 24
/** Each poll is charged, so beside an endpoint that asks for receipts each would cause another event. */
const ON_DEMAND = 'receipt.published'
const PAGE = 1000

export async function run({ options }: CommandCall): Promise<void> {
  const address = addressOf(needed(options, 'forwardTo', '--forward-to localhost:3000'))
  const types = textOption(options, 'events')
  const wanted = types === undefined ? undefined : new Set(wordsOf(types))
  const secret = secretOf(tokenOf(options))
  let after = await lastSequence(options)
  tell(`Forwarding to ${address.href}. The secret: ${secret}`)
  for (;;) {
    const { data, has_more: hasMore } = await eventsAfter(options, after)
    for (const event of data) {
      after = event.data.sequence
      if (wanted?.has(event.event) ?? event.event !== ON_DEMAND) {
        const outcome = await forward(address, event, secret)
        print(
          options.json
            ? JSON.stringify({ ...event, ...outcome })
            : `${event.occurred_at}  ${event.event}  ${event.event_id}  ${outcome.http_status ?? outcome.error}`,
        )
      }
    }
    if (!hasMore) await sleep(EVERY_MS)
  }
}

/** Only to this machine: the events of an account are not for others. */
function addressOf(text: string): URL {
  const url = /^https?:\/\//.test(text) ? text : `http://${text}`
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed !== undefined && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(parsed.hostname))
    return parsed
  throw new CommandError(`Not an address of this machine: "${text}"`, EXIT.usage, 'localhost:3000')
}

const secretOf = (token: string): string =>
  `whsec_${createHmac('sha256', token)
    .update('ergon webhook listen')
    .digest()
    .subarray(0, SECRET_BYTES)
    .toString('base64')}`

/** An empty page while the service is away: it may be on its way back. */
async function eventsAfter(
  options: CommandCall['options'],
  after: number,
): Promise<EventPageReply> {
  try {
    return replyOf<typeof eventList>(
      await apiGet(options, `/v1/events?after=${after}&limit=${PAGE}`),
    )
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error
    tell(error.message)
    return { data: [], has_more: false }
  }
}

/** Events from before the call are not forwarded. */
async function lastSequence(options: CommandCall['options']): Promise<number> {
  let last = 0
  for (;;) {
    const page = await apiGet(options, `/v1/events?after=${last}&limit=${PAGE}`)
    const { data, has_more: hasMore } = replyOf<typeof eventList>(page)
    last = data.at(-1)?.data.sequence ?? last
    if (!hasMore) return last
  }
}

type Forwarded = { readonly http_status: number | null; readonly error: string | null }

function forward(address: URL, event: EventBody, secret: string): Promise<Forwarded> {
  const body = JSON.stringify(event)
  const headers = signedHeaders({
    id: event.event_id,
    type: event.event,
    timestamp: Math.floor(Date.now() / 1000),
    body,
    secrets: [secret],
  })
  return new Promise((resolve) => {
    const sent = http.request(
      address,
      { method: 'POST', headers, timeout: ANSWER_MS },
      (response) => {
        response.resume()
        resolve({ http_status: response.statusCode ?? null, error: null })
      },
    )
    sent.on('timeout', () => sent.destroy(new CommandError('it did not answer')))
    sent.on('error', (error) => resolve({ http_status: null, error: error.message }))
    sent.end(body)
  })
}
