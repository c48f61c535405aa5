// One generation on one sequence: the prompt in chunks, so that others keep decoding and an abort takes
// effect, then token by token until the model ends its turn.
import {
  LlamaGrammarEvaluationState,
  TokenBias,
  type LlamaContextSequence,
  type Token,
} from 'node-llama-cpp'
import { PREFILL_TOKENS, priorityOf } from './fair-batch.ts'
import type { RequestGrammar } from './grammar/create-grammar.ts'
import type { GpuTimer } from './gpu-timer.ts'
import type { Loaded } from './load-model.ts'
import { sampleFrom, uniform } from './sample.ts'
import type { TokenTimer as TokenSampling } from './samplings.ts'
import type { CpuAccount, StepClock } from './step-clock.ts'
import type { StepWatch } from './step-watch.ts'
import type { Turnstile } from './turnstile.ts'

export type Sampling = {
  readonly temperature: number
  readonly topP: number
  /** 32 bits. */
  readonly seed: number
  readonly presencePenalty: number
  readonly frequencyPenalty: number
  readonly bias: ReadonlyMap<number, number>
  /** The number of alternatives to report per token; absent: no probabilities at all. */
  readonly alternatives?: number
}

export type Probability = { readonly token: Token; readonly probability: number }

export type Decoded =
  /** Prompt tokens were evaluated; nothing is generated yet. */
  | { readonly kind: 'prefill'; readonly tokens: number }
  | {
      readonly kind: 'token'
      readonly token: Token
      /** Present when probabilities were asked for. */
      readonly probability?: number
      readonly alternatives?: readonly Probability[]
    }

export type Generation = {
  readonly prompt: readonly Token[]
  readonly sampling: Sampling
  readonly grammar?: RequestGrammar
  readonly account: CpuAccount
  /** The account whose turn it takes when it must wait. */
  readonly payer: string
  readonly signal: AbortSignal
}

/** A model and what looks at its steps. */
export type Engine = Loaded & {
  readonly clock: StepClock
  readonly watch: StepWatch
  readonly gpu: GpuTimer
  readonly sampling: TokenSampling
  readonly turnstile: Turnstile
}

/** Evaluates on an empty sequence that nobody else uses meanwhile. */
export async function* runGeneration(
  engine: Engine,
  sequence: LlamaContextSequence,
  { prompt, sampling, grammar, signal }: Generation,
): AsyncGenerator<Decoded, void, void> {
  let at = 0
  for (; prompt.length - at > PREFILL_TOKENS; at += PREFILL_TOKENS) {
    await engine.turnstile.pass()
    signal.throwIfAborted()
    const chunk = prompt.slice(at, at + PREFILL_TOKENS)
    const evaluationPriority = priorityOf(prompt.length - at)
    const step = sequence.evaluateWithoutGeneratingNewTokens(chunk, { evaluationPriority })
    await engine.watch.during(engine.gpu.during(step))
    yield { kind: 'prefill', tokens: PREFILL_TOKENS }
  }
  signal.throwIfAborted()
  const random = uniform(sampling.seed)
  const own = samplesItself(sampling, grammar)
  const generated: Token[] = []
  const iterator = sequence.evaluateWithMetadata(
    prompt.slice(at),
    { probabilities: sampling.alternatives !== undefined },
    {
      ...engineSampling(engine, sampling, generated),
      ...(own ? { temperature: 0 } : {}),
      yieldEogToken: true,
      ...(grammar === undefined ? {} : grammarSampling(engine, grammar)),
    },
  )
  try {
    let fed: Token | undefined
    while (true) {
      await engine.turnstile.pass()
      const { value, done } = await engine.watch.during(engine.gpu.during(iterator.next(fed)))
      engine.sampling.end()
      signal.throwIfAborted()
      if (done === true) return
      if (generated.length === 0) yield { kind: 'prefill', tokens: prompt.length - at }
      const output: Output = value
      const sorted = output.probabilities && [...output.probabilities]
      fed = own && sorted !== undefined ? sampleFrom(sorted, sampling, random) : output.token
      if (engine.model.isEogToken(fed)) return
      generated.push(fed)
      yield decoded(fed, sorted, sampling.alternatives)
    }
  } finally {
    await iterator.return()
  }
}

/** The engine asks for the state once the step is decoded, right before it chooses a token under it. */
function grammarSampling({ model, clock, sampling }: Engine, { grammar, param }: RequestGrammar) {
  const state = new LlamaGrammarEvaluationState({ model, grammar })
  return {
    grammarEvaluationState: () => {
      clock.settle()
      sampling.begin(param)
      return state
    },
  }
}

type Output = { readonly token: Token; readonly probabilities?: Map<Token, number> }

/**
 * The engine's probabilities are those after temperature and top-p; only greedy ones are the plain
 * softmax. So with logprobs we let it choose greedily, choose ourselves and hand it our token. Not under
 * a grammar, whose state follows the engine's own choice.
 */
const samplesItself = (sampling: Sampling, grammar: RequestGrammar | undefined) =>
  sampling.alternatives !== undefined && sampling.temperature > 0 && grammar === undefined

function decoded(
  token: Token,
  sorted: readonly [Token, number][] | undefined,
  alternatives: number | undefined,
): Decoded {
  if (sorted === undefined) return { kind: 'token', token }
  return {
    kind: 'token',
    token,
    probability: sorted.find(([candidate]) => candidate === token)?.[1] ?? 0,
    alternatives: sorted
      .slice(0, alternatives)
      .map(([candidate, probability]) => ({ token: candidate, probability })),
  }
}

/** Top-k and min-p are off: the engine's defaults (40, 0.95) are not what OpenAI's parameters mean. */
function engineSampling({ model, gpu }: Engine, sampling: Sampling, generated: readonly Token[]) {
  const { temperature, topP, seed, presencePenalty, frequencyPenalty, bias } = sampling
  const tokenBias = new TokenBias(model.tokenizer)
  for (const [token, logit] of bias) tokenBias.set([token as Token], { logit })
  const penalised = presencePenalty !== 0 || frequencyPenalty !== 0
  return {
    temperature,
    topP,
    seed,
    topK: 0,
    minP: 0,
    // The engine asks for it between the end of a step and the choice of a token.
    ...(gpu.isUsed
      ? { tokenBias: () => (gpu.end(), tokenBias) }
      : bias.size > 0
        ? { tokenBias }
        : {}),
    ...(penalised
      ? {
          repeatPenalty: {
            punishTokens: () => [...generated],
            penalty: 1,
            presencePenalty,
            frequencyPenalty,
            maxPunishTokens: PENALISED_TOKENS_MAX,
          },
        }
      : {}),
  }
}

const PENALISED_TOKENS_MAX = 8192
