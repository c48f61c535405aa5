// A shared context: continuous batching of many generations, with the CPU of every step attributed to
// those who were in it.
import type { LlamaContext, LlamaContextSequence, TokenMeterState } from 'node-llama-cpp'
import { fairBatch } from './fair-batch.ts'
import { createGpuTimer, NO_GPU } from './gpu-timer.ts'
import { runGeneration, type Decoded, type Generation } from './generation.ts'
import type { Loaded } from './load-model.ts'
import type { ModelConfig } from './model-config.ts'
import { createSamplings } from './samplings.ts'
import { createPool } from './sequences.ts'
import { createTurnstile } from './turnstile.ts'
import {
  createStepClock,
  processClocks,
  type CpuAccount,
  type StepShare,
  type StepClock,
} from './step-clock.ts'
import { createStepWatch, type StepWatch } from './step-watch.ts'
import { weightOf } from './step-weights.ts'

export type Decoder = {
  readonly clock: StepClock
  readonly watch: StepWatch
  /**
   * Generates until the model ends its turn, the consumer leaves or the signal aborts. The prompt must
   * be shorter than the context, and the consumer must leave before the context is full: the engine
   * would shift it silently and evaluate half of it again.
   */
  generate(generation: Generation): AsyncGenerator<Decoded, void, void>
}

/** The work of a sequence since the clock last settled. */
type BoundAccount = {
  readonly account: CpuAccount
  last: TokenMeterState
  readonly probabilities: boolean
}

export async function createDecoder(loaded: Loaded, config: ModelConfig): Promise<Decoder> {
  const bound = new Map<LlamaContextSequence, BoundAccount>()
  const samplings = createSamplings(processClocks)
  const gpu = loaded.llama.gpu === false ? NO_GPU : createGpuTimer(processClocks.wallNs)
  const clock = createStepClock({
    ...processClocks,
    gpu,
    shares: () => sharesOf(bound),
    own: samplings.shares,
  })
  const watch = createStepWatch({
    cpuMs: () => Number(processClocks.processNs()) / 1e6,
    samplings: samplings.running,
  })
  const context = await loaded.model.createContext({
    contextSize: config.contextSize,
    sequences: config.sequences,
    threads: config.threads,
    batching: {
      // The one public hook that runs exactly once before every decode: a step boundary.
      itemPrioritizationStrategy({ items, size }) {
        clock.settle()
        watch.step()
        gpu.begin()
        return fairBatch(items, size)
      },
    },
  })
  const turnstile = createTurnstile()
  const pool = createPool(takeSequences(context, config.sequences))

  async function* generate(generation: Generation): AsyncGenerator<Decoded, void, void> {
    const { account, payer, sampling: asked, signal } = generation
    const sequence = await pool.take(signal, payer)
    const sampling = samplings.open(account)
    try {
      await turnstile.enter(() => sequence.clearHistory())
      const last = sequence.tokenMeter.getState()
      bound.set(sequence, { account, last, probabilities: asked.alternatives !== undefined })
      yield* runGeneration(
        { ...loaded, clock, watch, gpu, sampling, turnstile },
        sequence,
        generation,
      )
    } finally {
      sampling.close()
      clock.settle()
      bound.delete(sequence)
      pool.give(sequence)
    }
  }

  return { clock, watch, generate }
}

const takeSequences = (context: LlamaContext, count: number) =>
  Array.from({ length: count }, () => context.getSequence())

function sharesOf(bound: Map<LlamaContextSequence, BoundAccount>): StepShare[] {
  const shares: StepShare[] = []
  for (const [sequence, entry] of bound) {
    const { usedInputTokens: input, usedOutputTokens: output } = sequence.tokenMeter.diff(
      entry.last,
    )
    if (input === 0 && output === 0) continue
    entry.last = sequence.tokenMeter.getState()
    const { probabilities, account } = entry
    const position = sequence.nextTokenIndex
    shares.push({ account, weight: weightOf({ input, output, position, probabilities }) })
  }
  return shares
}
