// A stream of deltas as whole answers, for callers who did not ask for a stream.
import { invariant, type ErgonError } from '#base/errors.ts'
import type { Started } from '#inference/generation.ts'
import type { AnswerEvent } from '#inference/paid-steps.ts'
import type { Delta, FinishReason, TokenUsage } from '#inference/providers/provider.ts'
import type { WholeChoice } from './shape.ts'

export type Collected = {
  readonly answers: readonly WholeChoice[]
  readonly usage: TokenUsage
  readonly cutBy: ErgonError | undefined
}

type End = Extract<AnswerEvent, { kind: 'end' }>
type NextEvents = readonly AnswerEvent[] | undefined

/** Reads to the end, at once where all is there. Throws what the events throw. */
export function collectAnswers(steps: Started['events']): Collected | Promise<Collected> {
  const drafts: Draft[] = []
  let end: End | undefined
  const add = (events: NextEvents): boolean => {
    for (const event of events ?? [])
      if (event.kind === 'end') end = event
      else addEvent(drafts, event)
    return events !== undefined
  }
  const read = (): Collected | Promise<Collected> => {
    for (;;) {
      const next = steps.next()
      if (next instanceof Promise) return next.then((events) => (add(events) ? read() : whole()))
      if (!add(next)) return whole()
    }
  }
  const whole = (): Collected => {
    invariant(end !== undefined, 'an answer that ended without its end')
    return { answers: drafts.map(answerOf), usage: end.usage, cutBy: end.cutBy }
  }
  return read()
}

const TEXTS = ['content', 'refusal', 'reasoning_content', 'text'] as const

/** Deltas of one choice, added up in place: a string per token is cheap, an object per token is not. */
type Draft = {
  readonly delta: { -readonly [Key in (typeof TEXTS)[number]]?: string }
  readonly index: number
  calls?: Map<number, { id: string; name: string; arguments: string }>
  logprobs?: Record<string, unknown[]>
  finish: FinishReason
}

/** The draft of a choice, in the order of their numbers. */
function draftOf(drafts: Draft[], index: number): Draft {
  const at = drafts.findIndex((draft) => draft.index >= index)
  const known = drafts[at]
  if (known?.index === index) return known
  const draft: Draft = { index, delta: {}, finish: 'stop' }
  drafts.splice(at < 0 ? drafts.length : at, 0, draft)
  return draft
}

function addEvent(drafts: Draft[], event: Exclude<AnswerEvent, End>): void {
  const draft = draftOf(drafts, event.index)
  if (event.kind === 'finish') draft.finish = event.reason
  else addDelta(draft, event.delta, event.logprobs)
}

function addDelta(draft: Draft, delta: Delta, logprobs: object | null): void {
  for (const key of TEXTS) {
    const text = delta[key]
    if (typeof text === 'string') draft.delta[key] = (draft.delta[key] ?? '') + text
  }
  for (const { index, id, function: made } of delta.tool_calls ?? []) {
    // The key is the number, which an upstream chooses: a list would have as many places.
    draft.calls ??= new Map()
    const call = draft.calls.get(index) ?? { id: '', name: '', arguments: '' }
    draft.calls.set(index, call)
    call.id = id ?? call.id
    call.name += made?.name ?? ''
    call.arguments += made?.arguments ?? ''
  }
  if (logprobs === null) return
  // Both forms, {content: [...]} and {tokens: [...], …}, are objects of lists.
  for (const [key, list] of Object.entries(logprobs))
    if (Array.isArray(list)) ((draft.logprobs ??= {})[key] ??= []).push(...list)
}

function answerOf({ index, delta, calls, finish, ...draft }: Draft): WholeChoice {
  const logprobs = draft.logprobs ?? null
  if (calls === undefined) return { index, delta, logprobs, finish }
  const tool_calls = [...calls.values()].map(({ id, ...made }, position) => ({
    index: position,
    id,
    type: 'function' as const,
    function: made,
  }))
  return { index, delta: { ...delta, tool_calls }, logprobs, finish }
}
