// A client of the live stream: messages as they come.
import { liveMessage, type LiveMessage } from '#contract/live/live.ts'
import type { Ergon } from '../start-ergon.ts'

/** A message with its id, or the event that ends a stream. */
export type Heard =
  | { readonly id: string; readonly text: string; readonly message: LiveMessage }
  | { readonly event: string; readonly data: Readonly<Record<string, string>> }

export type LiveAsk = {
  readonly seconds?: number
  /** The header Last-Event-ID. */
  readonly after?: string
  readonly signal?: AbortSignal
}

export const askLive = (
  { baseUrl }: Ergon,
  token: string,
  { seconds = 60, after, signal }: LiveAsk = {},
): Promise<Response> =>
  fetch(`${baseUrl}/v1/live?seconds=${seconds}`, {
    headers: {
      authorization: `Bearer ${token}`,
      ...(after !== undefined && { 'last-event-id': after }),
    },
    ...(signal !== undefined && { signal }),
  })

/** Every message is held against the contract. */
export async function* hear(ergon: Ergon, token: string, ask: LiveAsk = {}): AsyncGenerator<Heard> {
  const answer = await askLive(ergon, token, ask)
  if (answer.status !== 200 || answer.body === null) throw new Error(await answer.text())
  let text = ''
  for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
    const parts = (text + piece).split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) yield heardOf(part)
  }
}

function heardOf(part: string): Heard {
  const fields = new Map(part.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
  const data: unknown = JSON.parse(fields.get('data') ?? '')
  const event = fields.get('event')
  if (event !== undefined) return { event, data: data as Record<string, string> }
  const message = liveMessage.strict().parse(data)
  return { id: fields.get('id') ?? '', text: part, message }
}
