// A stream of deltas as whole answers, for callers who did not ask for a stream.
import { invariant, type ErgonError } from '#base/errors.ts'
import type { Started } from '#inference/generation.ts'
import type { AnswerEvent } from '#inference/paid-steps.ts'
import type {
  Delta,
  FinishReason,
  TokenUsage,
  ToolCallDelta,
} from '#inference/providers/provider.ts'
import type { Answer } from './shape.ts'

/** Deltas of one choice, added up in place: a string per token is cheap, an object per token is not. */
type Draft = {
  readonly texts: Map<'content' | 'refusal' | 'reasoning_content' | 'text', string>
  readonly calls: Map<number, { id: string; name: string; arguments: string }>
  readonly logprobs: Record<string, unknown[]>
  finish?: FinishReason
}

const TEXTS = ['content', 'refusal', 'reasoning_content', 'text'] as const

/** Reads to the end. Throws what the events throw. */
export async function collectAnswers(
  steps: Started['events'],
): Promise<{ answers: Answer[]; usage: TokenUsage; cutBy: ErgonError | undefined }> {
  const drafts = new Map<number, Draft>()
  let end: Extract<AnswerEvent, { kind: 'end' }> | undefined
  for (;;) {
    const next = steps.next()
    const events = next instanceof Promise ? await next : next
    if (events === undefined) break
    for (const event of events) {
      if (event.kind === 'end') end = event
      else addEvent(drafts, event)
    }
  }
  invariant(end !== undefined, 'an answer that ended without its end')
  return { answers: answersOf(drafts), usage: end.usage, cutBy: end.cutBy }
}

function addEvent(drafts: Map<number, Draft>, event: Exclude<AnswerEvent, { kind: 'end' }>): void {
  let draft = drafts.get(event.index)
  if (draft === undefined) {
    draft = { texts: new Map(), calls: new Map(), logprobs: {} }
    drafts.set(event.index, draft)
  }
  if (event.kind === 'finish') draft.finish = event.reason
  else addDelta(draft, event.delta, event.logprobs)
}

function addDelta(draft: Draft, delta: Delta, logprobs: object | null): void {
  for (const key of TEXTS) {
    const text = delta[key]
    if (typeof text === 'string') draft.texts.set(key, (draft.texts.get(key) ?? '') + text)
  }
  for (const call of delta.tool_calls ?? []) addCall(draft, call)
  // Both forms, {content: [...]} and {tokens: [...], …}, are objects of lists.
  for (const [key, list] of Object.entries(logprobs ?? {}))
    if (Array.isArray(list)) (draft.logprobs[key] ??= []).push(...list)
}

function addCall(draft: Draft, call: ToolCallDelta): void {
  const so = draft.calls.get(call.index) ?? { id: '', name: '', arguments: '' }
  draft.calls.set(call.index, {
    id: call.id ?? so.id,
    name: so.name + (call.function?.name ?? ''),
    arguments: so.arguments + (call.function?.arguments ?? ''),
  })
}

const answersOf = (drafts: ReadonlyMap<number, Draft>): Answer[] =>
  [...drafts.entries()]
    .toSorted(([a], [b]) => a - b)
    .map(([index, { texts, calls, logprobs, finish }]) => ({
      index,
      delta: {
        ...Object.fromEntries(texts),
        ...(calls.size > 0 && {
          tool_calls: [...calls.entries()].map(([position, { id, ...made }]) => ({
            index: position,
            id,
            type: 'function' as const,
            function: made,
          })),
        }),
      },
      logprobs: Object.keys(logprobs).length === 0 ? null : logprobs,
      finish: finish ?? 'stop',
    }))
