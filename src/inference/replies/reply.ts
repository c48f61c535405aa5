// A started generation as a Reply: whole JSON after settling, or SSE chunks with the figures last.
import type { ErgonError } from '#base/errors.ts'
import { chain, Steps } from '#base/steps.ts'
import { larger } from '#base/units.ts'
import { openaiError } from '#contract/errors.ts'
import { directEnergy, type Charge } from '#contract/ledger/charge.ts'
import type { KnownReply, StreamedReply } from '#http/reply.ts'
import type { InferenceDeps, Started } from '#inference/generation.ts'
import type { AnswerEvent } from '#inference/paid-steps.ts'
import type { Delta, FinishReason, TokenUsage } from '#inference/providers/provider.ts'
import { collectAnswers, type Collected } from './collect.ts'
import { usageText } from './figures.ts'
import { createRunningEnergy, type RunningEnergy } from './running-energy.ts'
import { envelope, type AnswerHead, type ReplyShape } from './shape.ts'

type Deps = Pick<InferenceDeps, 'clock' | 'learned'>

export const knownReply = (
  deps: Deps,
  started: Started,
  shape: ReplyShape,
): KnownReply | Promise<KnownReply> =>
  chain(collectAnswers(started.events), (collected) => wholeReply(deps, started, shape, collected))

function wholeReply(
  deps: Deps,
  { offer, reason, measured }: Started,
  shape: ReplyShape,
  { answers, usage, cutBy }: Collected,
): KnownReply {
  const head = headOf(deps, shape, offer.id)
  const body = (charge: Charge) => {
    if (cutBy === undefined) learn(deps, { offer, usage, charge, measured })
    const opening = JSON.stringify(envelope(shape.object.whole, head)).slice(0, -1)
    const choices = JSON.stringify(answers.map(shape.wholeChoice))
    return `${opening},"choices":${choices},"usage":${usageText(usage, charge)}}`
  }
  const headers = { 'x-router-reason': reason }
  if (cutBy === undefined) return { kind: 'known', status: 200, headers, body }
  const cut = { ...headers, 'x-cut-short': cutBy.code }
  return { kind: 'known', status: 200, headers: cut, despite: cutBy, body }
}

/**
 * Deltas are sent as they come. The last writes have the figures of the settled charge: the chunks with the finish
 * reasons, and the usage. The usage has a chunk of its own where `include_usage` is set, and is a field of the last
 * finish otherwise. Never a named event: openai and the AI SDK break on it.
 */
export function streamedReply(
  deps: Deps,
  started: Started,
  { shape, includeUsage, includeEnergy }: AskedOfStream & { readonly shape: ReplyShape },
): StreamedReply {
  const { offer, reason, measured } = started
  const head = headOf(deps, shape, offer.id)
  const state: StreamState = { finishes: new Map(), usage: undefined }
  const write = chunkWriter(shape, head, includeUsage)
  return {
    kind: 'streamed',
    status: 200,
    headers: { 'x-router-reason': reason },
    contentType: 'text/event-stream',
    chunks: new PrintedSteps(
      started.events,
      { shape, write, state },
      includeEnergy ? createRunningEnergy(started, deps.clock) : undefined,
    ),
    last: (charge) => {
      const usage = state.usage ?? NOTHING_USED
      learn(deps, { offer, usage, charge, measured })
      const figures = usageText(usage, charge)
      const finishes = [...state.finishes].map(([index, finish]) =>
        shape.chunkChoice(index, {}, { logprobs: null, finish }),
      )
      const texts = finishes.map((choice, position) =>
        includeUsage || position < finishes.length - 1 ? write([choice]) : write([choice], figures),
      )
      if (includeUsage) texts.push(write([], figures))
      return `${texts.join('')}${DONE}`
    },
    cut: (error) => `${errorChunk(error)}${DONE}`,
  }
}

const DONE = 'data: [DONE]\n\n'
const NOTHING_USED: TokenUsage = { promptTokens: 0, completionTokens: 0 }

/** Fields of a chunk that a caller asks for. */
export type AskedOfStream = { readonly includeUsage: boolean; readonly includeEnergy: boolean }

type StreamState = { readonly finishes: Map<number, FinishReason>; usage: TokenUsage | undefined }
type WriteChunk = (choices: readonly object[], usage?: string) => string

function chunkWriter(shape: ReplyShape, head: AnswerHead, includeUsage: boolean): WriteChunk {
  // The same for each of hundreds of chunks, so it is printed once.
  const opening = JSON.stringify(envelope(shape.object.chunk, head)).slice(0, -1)
  // OpenAI sends usage: null until the usage chunk, and only where the request asks for one.
  const closing = includeUsage ? ',"usage":null}\n\n' : '}\n\n'
  return (choices, usage) =>
    `data: ${opening},"choices":${JSON.stringify(choices)}${
      usage === undefined ? closing : `,"usage":${usage}}\n\n`
    }`
}

const PROBE = 'ergon-probe'

/** Writes a chunk of one plain text: between what stands before and after it in each of its choice. */
function plainWriter(
  shape: ReplyShape,
  write: WriteChunk,
): (index: number, delta: Delta) => string {
  const ends = new Map<number, readonly [string, string]>()
  const more = { logprobs: null, finish: null }
  const endsOf = (index: number, delta: Delta) => {
    const probe = delta.text === undefined ? { content: PROBE } : { text: PROBE }
    const whole = write([shape.chunkChoice(index, probe, more)])
    // The last: a model may have that name, and no text comes after the choice's.
    const at = whole.lastIndexOf(PROBE)
    return [whole.slice(0, at), whole.slice(at + PROBE.length)] as const
  }
  return (index, delta) => {
    let known = ends.get(index)
    if (known === undefined) ends.set(index, (known = endsOf(index, delta)))
    return known[0] + (delta.content ?? delta.text ?? '') + known[1]
  }
}

/** One write for each step: the chunks of one read from the network. */
class PrintedSteps extends Steps<string> {
  readonly #events: Started['events']
  readonly #print: (event: AnswerEvent) => string
  readonly #energy: RunningEnergy | undefined

  constructor(events: Started['events'], chunk: Chunks, energy: RunningEnergy | undefined) {
    super()
    this.#events = events
    this.#energy = energy
    this.#print = chunkPrinter(chunk)
  }

  next(): string | undefined | Promise<string | undefined> {
    return chain(this.#events.next(), (events) => {
      if (events === undefined) return undefined
      let text = ''
      for (const event of events) text += this.#print(event)
      if (text === '') return this.next()
      return this.#energy === undefined ? text : this.#energy(text)
    })
  }

  dispose(): void | Promise<void> {
    return this.#events.dispose()
  }
}

type Chunks = {
  readonly shape: ReplyShape
  readonly write: WriteChunk
  readonly state: StreamState
}

/** Prints the part of an event that is sent at once, and keeps in the state the part that waits for the charge. */
function chunkPrinter({ shape, write, state }: Chunks): (event: AnswerEvent) => string {
  const opened = new Set<number>()
  const plain = plainWriter(shape, write)
  return (event) => {
    if (event.kind === 'end') {
      state.usage = event.usage
      return ''
    }
    const { index } = event
    const isFirst = !opened.has(index)
    opened.add(index)
    if (event.kind === 'finish') {
      state.finishes.set(index, event.reason)
      if (!isFirst) return ''
      return write([shape.chunkChoice(index, shape.opened({}), { logprobs: null, finish: null })])
    }
    if (event.isPlain === true && !isFirst) return plain(index, event.delta)
    const delta = isFirst ? shape.opened(event.delta) : event.delta
    return write([shape.chunkChoice(index, delta, { logprobs: event.logprobs, finish: null })])
  }
}

/** All four stream clients raise this properly (an `error` field in an unnamed event). */
const errorChunk = (error: ErgonError): string =>
  `data: ${JSON.stringify({ error: openaiError(error) })}\n\n`

const headOf = ({ clock }: Deps, shape: ReplyShape, model: string): AnswerHead => {
  const nowMs = clock.wallMs()
  return { id: shape.newId(nowMs), createdS: Math.floor(nowMs / 1000), model }
}

/**
 * The cost of the model is learned from whole answers, by their measured energy where less could be billed. The
 * figures of a cut answer are too low.
 */
function learn(
  { learned }: Deps,
  { offer, usage, charge, measured }: Pick<Started, 'offer' | 'measured'> & FinalFigures,
): void {
  learned.record(
    offer,
    { prompt: usage.promptTokens, completion: usage.completionTokens },
    larger(directEnergy(charge), measured()),
  )
}
type FinalFigures = { readonly usage: TokenUsage; readonly charge: Charge }
