// Chat and completions differ in the form of a choice and nothing else: each is one Shape.
import { newId } from '#base/ids.ts'
import type { Delta, FinishReason } from '#inference/providers/provider.ts'

export type AnswerHead = {
  readonly id: string
  readonly createdS: number
  /** The model that served. */
  readonly model: string
}

/** One whole answer of a reply that is not streamed. */
export type WholeChoice = {
  readonly index: number
  readonly delta: Delta
  readonly logprobs: object | null
  readonly finish: FinishReason
}

export type ReplyShape = {
  readonly newId: (nowMs: number) => string
  /** The `object` of a whole reply and of a chunk. */
  readonly object: { readonly whole: string; readonly chunk: string }
  /** A choice's first delta, with what it must hold whatever the upstream sent (openai's .stream()). */
  opened(delta: Delta): Delta
  /** A choice of a chunk; `finish` is null until the last one. */
  chunkChoice(
    index: number,
    delta: Delta,
    more: { readonly logprobs: object | null; readonly finish: FinishReason | null },
  ): object
  wholeChoice(answer: WholeChoice): object
}

export const CHAT: ReplyShape = {
  newId: (nowMs) => newId('chatcmpl', nowMs),
  object: { whole: 'chat.completion', chunk: 'chat.completion.chunk' },
  opened: (delta) => ({
    role: 'assistant',
    content: delta.tool_calls === undefined ? '' : null,
    ...delta,
  }),
  chunkChoice: (index, delta, { logprobs, finish }) => ({
    index,
    delta,
    logprobs,
    finish_reason: finish,
  }),
  wholeChoice: ({ index, delta, logprobs, finish }) => ({
    index,
    message: {
      role: 'assistant',
      content: delta.content ?? null,
      refusal: delta.refusal ?? null,
      ...(delta.reasoning_content && { reasoning_content: delta.reasoning_content }),
      ...(delta.tool_calls && {
        tool_calls: delta.tool_calls.map(({ id, type, function: made }) => ({
          id,
          type,
          function: made,
        })),
      }),
    },
    logprobs,
    finish_reason: finish,
  }),
}

export const TEXT: ReplyShape = {
  newId: (nowMs) => newId('cmpl', nowMs),
  object: { whole: 'text_completion', chunk: 'text_completion' },
  opened: (delta) => delta,
  chunkChoice: (index, delta, { logprobs, finish }) => ({
    index,
    text: delta.text ?? '',
    logprobs,
    finish_reason: finish,
  }),
  wholeChoice: ({ index, delta, logprobs, finish }) => ({
    index,
    text: delta.text ?? '',
    logprobs,
    finish_reason: finish,
  }),
}

/** The first fields of every body of one reply. */
export const envelope = (object: string, head: AnswerHead) => ({
  id: head.id,
  object,
  created: head.createdS,
  model: head.model,
})
