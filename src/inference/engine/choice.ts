// One choice of an answer: decoded tokens → text that may be shown, until the model, a stop string, the
// end of the JSON value or the token limit ends it.
import type { LlamaModel, Token } from 'node-llama-cpp'
import type { Decoded, Probability } from './generation.ts'
import { createJsonEnd } from './json-end.ts'
import { createDetokenizer, createStopGate } from './text.ts'

/** One generated token with its probability and those of its rivals. */
export type TokenLogprob = {
  readonly token: string
  /** Natural logarithm. */
  readonly logprob: number
  readonly top: readonly { readonly token: string; readonly logprob: number }[]
  /** Where its text begins, in UTF-16 units of the choice's text. */
  readonly offset: number
}

export type ChoiceEvent =
  | { readonly kind: 'prefill'; readonly tokens: number }
  /** A token was generated; `text` is the part that may be shown now, often nothing. */
  | {
      readonly kind: 'token'
      readonly tokens: 1
      readonly text: string
      readonly logprobs: readonly TokenLogprob[]
    }
  /** The end, with the last token if one caused it; `text` is the text that had been held back. */
  | {
      readonly kind: 'end'
      readonly tokens: 0 | 1
      readonly text: string
      readonly logprobs: readonly TokenLogprob[]
      readonly reason: 'stop' | 'length'
    }

type Limits = {
  readonly maxTokens: number
  readonly stops: readonly string[]
  /** A grammar holds the text to one JSON value. */
  readonly isJson?: boolean
}

/** Reads a generation to its end; leaves it as soon as the choice is complete. */
export async function* readChoice(
  model: LlamaModel,
  generation: AsyncIterable<Decoded>,
  limits: Limits,
): AsyncGenerator<ChoiceEvent, void, void> {
  const detokenizer = createDetokenizer<Token>((tokens, before) =>
    model.detokenize(tokens, false, before),
  )
  const gate = createStopGate(limits.stops)
  const jsonEnd = limits.isJson === true ? createJsonEnd() : undefined
  const logprobs = createLogprobQueue(model)
  let tokens = 0
  for await (const event of generation) {
    if (event.kind === 'prefill') {
      yield event
      continue
    }
    tokens++
    logprobs.push(event)
    const piece = detokenizer.push(event.token)
    logprobs.grow(piece.length)
    const valueLength = jsonEnd?.push(piece)
    const { text, stopped } = gate.push(piece.slice(0, valueLength))
    if (stopped) return yield end(1, text, 'stop')
    if (valueLength !== undefined) return yield end(1, text + gate.end(), 'stop')
    if (tokens >= limits.maxTokens) {
      const rest = gate.push(detokenizer.end())
      return yield end(1, text + rest.text + gate.end(), rest.stopped ? 'stop' : 'length')
    }
    yield { kind: 'token', tokens: 1, text, logprobs: logprobs.take(text) }
  }
  const rest = gate.push(detokenizer.end())
  yield end(0, rest.text + gate.end(), 'stop')

  function end(tokens: 0 | 1, text: string, reason: 'stop' | 'length'): ChoiceEvent {
    return { kind: 'end', tokens, text, logprobs: logprobs.take(text), reason }
  }
}

/** OpenAI's figure for a token that cannot come. */
const LOGPROB_LEAST = -9999
const logprobOf = (probability: number) => Math.max(Math.log(probability), LOGPROB_LEAST)

/** Keeps the logprobs of tokens whose text is still held back. */
function createLogprobQueue(model: LlamaModel) {
  const queue: TokenLogprob[] = []
  let generated = 0
  let shown = 0
  const textOf = (token: Token) => model.detokenize([token], true)
  return {
    push(event: { token: Token; probability?: number; alternatives?: readonly Probability[] }) {
      if (event.probability === undefined) return
      queue.push({
        token: textOf(event.token),
        logprob: logprobOf(event.probability),
        top: (event.alternatives ?? []).map(({ token, probability }) => ({
          token: textOf(token),
          logprob: logprobOf(probability),
        })),
        offset: generated,
      })
    },
    grow(length: number) {
      generated += length
    },
    take(text: string): TokenLogprob[] {
      shown += text.length
      const count = queue.findIndex((entry) => entry.offset >= shown)
      return queue.splice(0, count < 0 ? queue.length : count)
    },
  }
}
