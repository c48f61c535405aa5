// The choices of one answer, as far as they are followed: each to its finish or to its last token, and the answer to
// the last finish. The rest of an engine's answer is neither passed on nor billed.
import { fault } from '#contract/errors.ts'
import type { ChunkChoice } from './chunk.ts'
import type { FinishReason, GenerationEvent } from '#inference/providers/provider.ts'

export class FollowedChoices {
  readonly #asked: number
  readonly #tokensMax: number
  readonly #countToken: () => void
  readonly #finished = new Set<number>()
  /** Tokens of each choice. */
  readonly #said: number[] = []
  /** The engine went on beyond the last token of the answer. */
  isOverrun = false

  /** Choices of at most `tokensMax` tokens each, a piece of text being one; `countToken` is called for each. */
  constructor(asked: number, tokensMax: number, countToken: () => void) {
    this.#asked = asked
    this.#tokensMax = tokensMax
    this.#countToken = countToken
  }

  get isWhole(): boolean {
    return this.#finished.size >= this.#asked
  }
  get hasFinished(): boolean {
    return this.#finished.size > 0
  }

  /** Throws `upstream_failed` for a choice that was not asked for. */
  add(choice: ChunkChoice, events: GenerationEvent[]): void {
    const { index, delta, logprobs } = choice
    if (index >= this.#asked)
      throw fault('upstream_failed', `Could not read the upstream: choice ${index} unasked`)
    // An engine that repeats a finish, or speaks after it, is not followed.
    if (this.#finished.has(index)) return
    if (hasToken(choice) && !this.count(index, events)) return
    if (Object.keys(delta).length > 0) events.push({ kind: 'delta', index, delta, logprobs })
    if (choice.finish !== undefined) this.#finish(index, choice.finish, events)
  }

  /** Counts a token; false for one too many: with it the choice ends. */
  count(index: number, events: GenerationEvent[]): boolean {
    const tokens = (this.#said[index] ?? 0) + 1
    if (tokens > this.#tokensMax) {
      this.#finish(index, 'length', events)
      this.isOverrun = this.isWhole
      return false
    }
    this.#said[index] = tokens
    this.#countToken()
    return true
  }

  #finish(index: number, reason: FinishReason, events: GenerationEvent[]): void {
    this.#finished.add(index)
    events.push({ kind: 'finish', index, reason })
  }
}

export const hasToken = ({ delta }: ChunkChoice): boolean =>
  Boolean(delta.content ?? delta.text ?? delta.reasoning_content ?? delta.refusal) ||
  delta.tool_calls !== undefined
