// Attributes CPU to requests. The process works in steps (one decode of a shared batch). The CPU between two step
// boundaries is split among the requests by the weight of their tokens in that step, as integers that add up exactly.
// CPU that no request caused stays unclaimed and is the operator's.
import { splitByWeight } from '#base/units.ts'
import type { GpuTimer } from './gpu-timer.ts'

/** One request's meter. `cpuNs` and `gpuNs`, the time of its steps on a GPU, only grow. */
export type CpuAccount = { cpuNs: bigint; gpuNs: bigint; open: boolean }
export type StepShare = { readonly account: CpuAccount; readonly weight: bigint }

export type StepClock = {
  open(): CpuAccount
  /** Settles, then takes no more: what follows is somebody else's. */
  close(account: CpuAccount): void
  /** Attributes everything since the last boundary. Called before each decode and before a figure leaves. */
  settle(): void
  /** Runs synchronous work of one request (parsing, tokenising) and charges it to that request alone. */
  own<T>(account: CpuAccount, work: () => T): T
  /** CPU that the process spent so far and how much of it has an owner. */
  totals(): { readonly processNs: bigint; readonly attributedNs: bigint }
  /** Time of steps on a GPU so far, with an owner or not; absent where the engine uses none. */
  gpuNs?(): bigint
}

type Sources = {
  /** CPU of the whole process, all threads. */
  readonly processNs: () => bigint
  /** Time, monotonic. */
  readonly wallNs: () => bigint
  /** Work done since it was last asked; empty when no step ran. */
  readonly shares: () => readonly StepShare[]
  /** Time in ns that requests took by themselves since it was last asked, besides what steps weigh. */
  readonly own?: () => readonly StepShare[]
  /** The timer of an engine on a GPU: the time of steps there is split as the rest of a step's CPU is. */
  readonly gpu?: GpuTimer
}

export function createStepClock(sources: Sources): StepClock {
  const startNs = sources.processNs()
  let boundaryNs = startNs
  let attributedNs = 0n
  let gpuNs = 0n
  let current: readonly StepShare[] = []

  const settle = () => {
    const nowNs = sources.processNs()
    const done = sources.shares()
    // Between a step and the next (sampling, writing) no meter moves: that CPU follows the step before it.
    if (done.length > 0) current = done
    const spentNs = nowNs - boundaryNs
    boundaryNs = nowNs
    const own = (sources.own?.() ?? []).filter((share) => share.account.open)
    const ownNs = least(
      own.reduce((sum, { weight }) => sum + weight, 0n),
      spentNs,
    )
    give(ownNs, own)
    const owners = current.filter((share) => share.account.open)
    give(spentNs - ownNs, owners)
    giveGpu(sources.gpu?.takeNs() ?? 0n, owners)
  }
  const giveGpu = (ns: bigint, owners: readonly StepShare[]) => {
    gpuNs += ns
    const parts = splitByWeight(
      ns,
      owners.map((share) => share.weight),
    )
    for (const [index, { account }] of owners.entries()) account.gpuNs += parts[index] ?? 0n
  }
  const give = (ns: bigint, owners: readonly StepShare[]) => {
    const parts = splitByWeight(
      ns,
      owners.map((share) => share.weight),
    )
    for (const [index, { account }] of owners.entries()) account.cpuNs += parts[index] ?? 0n
    attributedNs += parts.reduce((sum, part) => sum + part, 0n)
  }

  return {
    open: () => ({ cpuNs: 0n, gpuNs: 0n, open: true }),
    close(account) {
      settle()
      account.open = false
    },
    settle,
    own(account, work) {
      const processNs = sources.processNs()
      const wallNs = sources.wallNs()
      try {
        return work()
      } finally {
        // The thread's own CPU clock moves in ticks of 4 ms (RUSAGE_THREAD without virtual accounting).
        // One thread cannot have spent more than the time that passed, nor more than its process, which
        // may be decoding beside it.
        const ns = least(sources.processNs() - processNs, sources.wallNs() - wallNs)
        account.cpuNs += ns
        attributedNs += ns
        boundaryNs += ns
      }
    },
    totals: () => ({ processNs: sources.processNs() - startNs, attributedNs }),
    ...(sources.gpu?.isUsed === true ? { gpuNs: () => gpuNs } : {}),
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

/** The clocks of this process: getrusage with 1 µs, and monotonic time. */
export const processClocks = {
  processNs: () => {
    const { user, system } = process.cpuUsage()
    return BigInt(user + system) * 1000n
  },
  wallNs: () => process.hrtime.bigint(),
}
