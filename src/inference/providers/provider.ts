// What the gateway asks of whoever serves a model, be it our cell or somebody's upstream.
import type { Steps } from '#base/steps.ts'
import type { EnergyElsewhere, Claim } from '#charging/spend.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import type { Breaker } from './breaker.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'function_call'

/** Token counts of the whole call; the details are passed through when they are plain counts. */
export type TokenUsage = {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly promptDetails?: Readonly<Record<string, number>>
  readonly completionDetails?: Readonly<Record<string, number>>
}

/** A checked piece of an answer: `text` for completions, the rest for chat. */
export type Delta = {
  readonly role?: 'assistant'
  readonly content?: string | null
  readonly refusal?: string | null
  readonly reasoning_content?: string | null
  readonly tool_calls?: readonly ToolCallDelta[]
  readonly text?: string
}
export type ToolCallDelta = {
  readonly index: number
  readonly id?: string
  readonly type?: 'function'
  readonly function?: { readonly name?: string; readonly arguments?: string }
}

/**
 * In order of arrival; `used` comes before the deltas it paid for (where we count tokens, once for each
 * read from the network), `end` is last and comes once.
 */
export type GenerationEvent =
  | {
      readonly kind: 'delta'
      readonly index: number
      readonly delta: Delta
      readonly logprobs: object | null
      /** It is one text, which stands in JSON as it is. */
      readonly isPlain?: true
    }
  | { readonly kind: 'finish'; readonly index: number; readonly reason: FinishReason }
  | ({ readonly kind: 'used' } & Usage)
  | { readonly kind: 'end'; readonly usage: TokenUsage }

/** Cumulative since the start of the call. */
export type Usage = {
  readonly used: Claim
  readonly promptTokens: number
  readonly completionTokens: number
  /** Tokens of the prompt beyond promptTokensMax; of an upstream that declares them they are neither told nor billed. */
  readonly promptExcess?: number
}

export type GenerationCall = {
  readonly shape: 'chat' | 'text'
  readonly offer: ModelOffer
  /** The fields for the upstream, without model and stream. */
  readonly body: Readonly<Record<string, unknown>>
  /** UTF-8 bytes of everything that becomes prompt. */
  readonly promptBytes: number
  /** The most tokens that it can be, with what the server may add. */
  readonly promptTokensMax: number
  /** How many answers come back at once (n, times prompts), and the most tokens of all of them. */
  readonly choices: number
  readonly tokensMax: number
  /** Ask for it in one piece, where the provider can be asked so. */
  readonly whole?: boolean
}

export type EmbeddingCall = {
  readonly offer: ModelOffer
  readonly input: readonly (string | readonly number[])[]
  readonly promptBytes: number
  readonly promptTokensMax: number
}
/** `used` comes before the vectors it paid for; each input has one vector, of finite numbers. */
export type EmbeddingEvent =
  | { readonly kind: 'vector'; readonly index: number; readonly vector: Float32Array }
  | ({ readonly kind: 'used' } & Usage)

/**
 * How far an answer is: `more` follows; all is there, and at the `last` only what it used may follow; the upstream
 * said that it is `done`, or broke off; or it was followed far `enough`, and goes on all the same.
 */
export type Stage = 'more' | 'last' | 'done' | 'enough'

/** Reads one answer as its bytes come: pure, so that every lie can be tested without a socket. */
export type AnswerReader<Event> = {
  push(bytes: Uint8Array): Event[]
  stage(): Stage
  /** At the end of the bytes: the last events, or a fault when the answer is not whole. */
  end(): Event[]
}

export interface Provider {
  readonly name: string
  /** How the energy of an upstream is known; absent for a cell, whose CPU this node's meter sees. */
  readonly energy?: EnergyElsewhere
  /** Whether it is left alone for now, as after failures in a row. */
  readonly breaker?: Pick<Breaker, 'state' | 'rests'>
  /** Whether it may be asked for an answer in one piece: never a cell, which is metered as it works. */
  readonly givesWhole: boolean
  /**
   * Runs a generation; each step is what one read from the network brought, as a step for every event
   * would cost more than the rest of the gateway's work on it. A step throws faults: those of the request as the
   * upstream found them (400), else model_loading, overloaded, upstream_failed, upstream_timeout. Disposing of the
   * steps closes the connection, which is how every known engine is told to stop. Aborting the signal does so too,
   * and the next step but one throws its reason: before that a last step says what was used, which a cell of ours
   * tells when the step that it computes is over.
   */
  generate(call: GenerationCall, signal: AbortSignal): Steps<readonly GenerationEvent[]>
  /** Embeds texts in one request; throws as generate() does. */
  embed(call: EmbeddingCall, signal: AbortSignal): Steps<readonly EmbeddingEvent[]>
  /** Ends its connections: once its calls have ended, or after so long; at once by default. */
  close(graceMs?: number): Promise<void>
}

/** Who serves an offer; undefined when the provider has gone since the snapshot. */
export type Providers = { get(name: string): Provider | undefined }
