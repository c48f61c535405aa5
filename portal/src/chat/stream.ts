// A streamed chat: pieces of text as they come, the joules so far with their ceiling, and the figures of the end.
import { EventSourceParserStream } from 'eventsource-parser/stream'
import { send } from '#console/client/call.ts'
import { scaled } from './cost.ts'
import { onceLoaded } from './once-loaded.ts'

export type ChatBody = {
  readonly model: string
  readonly messages: readonly { readonly role: 'user' | 'assistant'; readonly content: string }[]
  readonly max_tokens: number
  readonly temperature: number
}
/** The head of an answer: the model that answers, and the most that the answer can cost. */
export type Begun = {
  readonly type: 'begun'
  readonly receiptId: string
  readonly ceilingNj: bigint | undefined
  readonly reason: string | undefined
}
export type ChatEvent =
  | Begun
  | { readonly type: 'text'; readonly text: string; readonly model: string }
  | { readonly type: 'energy'; readonly nj: bigint; readonly ceilingNj: bigint }
  | {
      readonly type: 'ended'
      readonly nj: bigint
      readonly pg: bigint
      readonly tokens: number
    }

type Chunk = {
  readonly model?: string
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[]
  readonly usage?: {
    readonly energy_j: number
    readonly carbon_mg: number
    readonly completion_tokens: number
  } | null
  readonly energy?: { readonly energy_nj: string; readonly ceiling_nj: string }
  readonly error?: { readonly message: string }
}

/**
 * Asks again while the model loads, and tells `loads` so. Throws Problem for a refusal; TypeError for an error inside of the
 * stream.
 */
export async function* streamChat(
  body: ChatBody,
  signal: AbortSignal,
  loads: () => void = () => undefined,
): AsyncGenerator<ChatEvent> {
  const whole = {
    ...body,
    messages: [...body.messages],
    stream: true,
    stream_options: { include_usage: true, include_energy: true } as object,
  }
  const response = await onceLoaded(
    () => send('POST /v1/chat/completions', { body: whole, signal }),
    { ending: () => signal, loads },
  )
  yield begunOf(response.headers)
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader()
  if (events === undefined) return
  try {
    for (;;) {
      const { done, value } = await events.read()
      if (done || value.data === '[DONE]') return
      yield* eventsOf(JSON.parse(value.data) as Chunk)
    }
  } finally {
    // The answer of one who stops reading is not sent any further.
    await events.cancel().catch(() => undefined)
  }
}

function begunOf(headers: Headers): Begun {
  const isCeiling = headers.get('x-energy-estimate') === 'ceiling'
  return {
    type: 'begun',
    receiptId: headers.get('x-receipt-id') ?? '',
    ceilingNj: isCeiling ? scaled(headers.get('x-energy-joules') ?? '0', 9) : undefined,
    reason: headers.get('x-router-reason') ?? undefined,
  }
}

function* eventsOf(chunk: Chunk): Generator<ChatEvent> {
  const { choices, usage, energy, error, model = '' } = chunk
  if (error !== undefined) throw new TypeError(error.message)
  const text = choices?.[0]?.delta?.content ?? ''
  if (text !== '') yield { type: 'text', text, model }
  if (energy !== undefined)
    yield { type: 'energy', nj: BigInt(energy.energy_nj), ceilingNj: BigInt(energy.ceiling_nj) }
  if (usage !== undefined && usage !== null)
    yield {
      type: 'ended',
      // JSON numbers of nine decimals: toFixed() gives back each of them.
      nj: scaled(usage.energy_j.toFixed(9), 9),
      pg: scaled(usage.carbon_mg.toFixed(9), 9),
      tokens: usage.completion_tokens,
    }
}
