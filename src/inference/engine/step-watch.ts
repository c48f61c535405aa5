// Notices an engine that has work and makes no step. A step cannot be stopped: its sampler runs in the engine's own
// thread until it ends, while this thread still answers. So the callers get an error, and the agent, which polls this
// thread for the engine's state, ends the process.
import type { RunningSampling } from './samplings.ts'
import type { CpuAccount } from './step-clock.ts'

/**
 * A step is stuck when it has taken more CPU than this. The longest step of SmolLM2 (64 prompt tokens and 8 answers)
 * takes 0.6 s. Time spent waiting for a core is no CPU.
 */
export const STEP_CPU_MS = 10_000
/**
 * A larger model is slower: a step may take this many times the slowest step so far, where that is more. The first
 * step, at the start of the model, has a quarter of the tokens of the longest.
 */
const STEPS = 20
/**
 * A step that takes no CPU waits for a device or a lock. It has this much time for each ms of CPU that it might take.
 */
const WAITING = 6
/**
 * CPU of one token's grammar, after which the cell is stuck: twice TOKEN_CPU_NS_MAX, after which the request ends
 * between two tokens. An admitted grammar takes 0.35 s at most (500 ways, SmolLM2).
 */
export const STUCK_TOKEN_CPU_MS = 2_000
const LOOK_MS = 250

/** The reason of a stuck cell's AbortSignal. */
export class Stuck extends Error {
  /** The accounts whose grammars it is, and the field of each request that the grammar came from. */
  readonly blamed: ReadonlyMap<CpuAccount, string>

  constructor(message: string, blamed: ReadonlyMap<CpuAccount, string>) {
    super(message)
    this.name = 'Stuck'
    this.blamed = blamed
  }
}

export type StepWatch = {
  /** Resolves as the work does; until then the engine is expected to make steps. */
  during<T>(work: Promise<T>): Promise<T>
  /** A step ended, or one begins. */
  step(): void
  /** Aborted with a `Stuck` once no step is to be expected any more. */
  readonly stuck: AbortSignal
  /** One check; called by a timer until `stuck`. */
  look(): void
}

type Sources = {
  /** CPU of the process. */
  readonly cpuMs: () => number
  /** Grammars that sample a token right now. */
  readonly samplings: () => readonly RunningSampling[]
}

export function createStepWatch({ cpuMs, samplings }: Sources): StepWatch {
  const found = new AbortController()
  let working = 0
  let slowestMs = 0
  let begunMs = cpuMs()
  let looks = 0

  const step = () => {
    const nowMs = cpuMs()
    if (working > 0) slowestMs = Math.max(slowestMs, nowMs - begunMs)
    begunMs = nowMs
    looks = 0
  }
  const tell = (message: string, blamed: readonly RunningSampling[]) => {
    clearInterval(timer)
    const params = blamed.map(({ account, param }) => [account, param] as const)
    found.abort(new Stuck(message, new Map(params)))
  }
  const look = () => {
    // Looks are counted, not time: a frozen process does not look.
    looks = working > 0 ? looks + 1 : 0
    if (looks === 0) return
    const long = samplings().filter((sampling) => sampling.cpuMs > STUCK_TOKEN_CPU_MS)
    if (long.length > 0)
      return tell(`A schema takes more than ${STUCK_TOKEN_CPU_MS} ms of CPU for a token`, long)
    // Nothing is known of a model before its first step; the agent limits its start.
    if (slowestMs === 0) return
    const limitMs = Math.max(STEP_CPU_MS, slowestMs * STEPS)
    const spentMs = cpuMs() - begunMs
    if (spentMs > limitMs || looks * LOOK_MS > limitMs * WAITING)
      tell(`The engine makes no step: ${Math.round(spentMs)} ms of CPU, ${looks} looks`, [])
  }
  const timer = setInterval(look, LOOK_MS).unref()

  return {
    async during(work) {
      if (working === 0) step()
      working++
      try {
        return await work
      } finally {
        step()
        working--
      }
    },
    step,
    stuck: found.signal,
    look,
  }
}
