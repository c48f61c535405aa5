// The interface to the server of a model: one of our cells, or an upstream on another machine.
import type { Secret } from '#base/log.ts'
import type { Steps } from '#base/steps.ts'
import type { CarbonFactor } from '#contract/ledger/charge.ts'
import type { EnergyElsewhere, Claim } from '#charging/spend.ts'
import type { ModelOffer } from '#inference/catalogue.ts'
import type { Breaker } from './breaker.ts'

/** A provider as the operator configured it. */
export type ProviderConfig = {
  readonly name: string
  /** A model cell of ours on a unix socket, which meters itself, or an address that ends in /v1. */
  readonly at:
    | { readonly kind: 'cell'; readonly socketPath: string }
    | {
        readonly kind: 'upstream'
        readonly baseUrl: string
        readonly bandPct: number
        /** Of the zone that it is in. */
        readonly factor?: CarbonFactor
      }
  readonly apiKey?: Secret
  readonly timeouts?: Partial<Timeouts>
  readonly connectionsMax?: number
  /** Newer OpenAI models know only max_completion_tokens, many servers only max_tokens. */
  readonly limitField?: 'max_tokens' | 'max_completion_tokens'
}
export type Timeouts = {
  readonly connectMs: number
  /** Until the head: a queue and, at servers that answer late, the prefill. */
  readonly headersMs: number
  /** Between two pieces of the body. */
  readonly idleMs: number
}

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
      /** The delta is one text without characters that JSON escapes. */
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
  /** Tokens that an upstream declares beyond promptTokensMax: neither shown nor billed. */
  readonly promptExcess?: number
}

export type GenerationCall = {
  readonly shape: 'chat' | 'text'
  readonly offer: ModelOffer
  /** The fields for the upstream, without model and stream. */
  readonly body: Readonly<Record<string, unknown>>
  /** UTF-8 bytes of everything that becomes prompt. */
  readonly promptBytes: number
  /** The most tokens of the prompt, with those that the server may add. */
  readonly promptTokensMax: number
  /** Number of answers of the call (n times prompts), and the most tokens of all of them. */
  readonly choices: number
  readonly tokensMax: number
  /** Asks for the answer in one piece, where the provider supports that. */
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
 * Progress of an answer. `more`: pieces follow. `last`: the answer is whole, and only its usage may follow. `done`: the
 * upstream ended the stream, or broke it off. `enough`: the limit of the call is reached, and the stream goes on.
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
  /** Method and band of an upstream's energy; absent for a cell, whose CPU this node's meter sees. */
  readonly energy?: EnergyElsewhere
  /** Keeps requests away from the provider after failures in a row. */
  readonly breaker?: Pick<Breaker, 'state' | 'rests'>
  /** The provider may be asked for an answer in one piece; never a cell, which is metered as it works. */
  readonly givesWhole: boolean
  /**
   * Runs a generation. A step has all events of one read from the network: a step for each event would cost more than
   * the rest of the gateway's work. A step throws faults: a fault of the request as the upstream found it (400), else
   * model_loading, overloaded, upstream_failed or upstream_timeout. Disposing of the steps closes the connection, which
   * stops every known engine. Aborting the signal does so too: one last step has the final use, which a cell of ours
   * reports at the end of its running step, and the step after it throws the reason.
   */
  generate(call: GenerationCall, signal: AbortSignal): Steps<readonly GenerationEvent[]>
  /** Embeds texts in one request; throws as generate() does. */
  embed(call: EmbeddingCall, signal: AbortSignal): Steps<readonly EmbeddingEvent[]>
  /** Ends its connections: once its calls have ended, at the latest after `graceMs`; at once by default. */
  close(graceMs?: number): Promise<void>
}

/** Providers by name; undefined when the provider was removed since the snapshot. */
export type Providers = { get(name: string): Provider | undefined }
