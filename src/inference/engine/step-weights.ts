// Weights of one sequence's tokens in a shared step. Only ratios matter; the unit is nanoseconds of CPU as measured
// for SmolLM2-135M Q4_1, one thread, flash attention (least of 24 runs per point).

/** A prompt token: 6.4 ms at the start of the context, 0.0018 ms more per position. */
const PREFILL_NS = 6_400_000
const PREFILL_POSITION_NS = 1_800
/**
 * A generated token: 10.4 ms, and 0.0106 ms more per token before it (26.4 ms at position 1500).
 * Without the second term long requests would be paid for by the short ones beside them.
 */
const DECODE_NS = 10_400_000
const DECODE_POSITION_NS = 10_600
/** All probabilities of a vocabulary of 49,152 as a sorted map: 21 ms more per token. */
const PROBABILITIES_NS = 21_000_000

export type StepTokens = {
  /** Prompt tokens without and tokens with logits, as the engine's meter counts them. */
  readonly input: number
  readonly output: number
  /** Tokens in the sequence's context. */
  readonly position: number
  /** True when the probabilities of all tokens were requested. */
  readonly probabilities: boolean
}

/** The weight of one sequence's tokens in a step; above 0 when the sequence had any. */
export function weightOf({ input, output, position, probabilities }: StepTokens): bigint {
  const sampled = probabilities ? PROBABILITIES_NS * output : 0
  if (input === 0) return BigInt((DECODE_NS + DECODE_POSITION_NS * position) * output + sampled)
  // The last token of a prompt gives logits, but in a batch it costs what its neighbours do (measured:
  // 64 tokens with logits 428 ms, without 435).
  const tokens = input + output
  return BigInt(Math.round((PREFILL_NS + PREFILL_POSITION_NS * position) * tokens + sampled))
}
