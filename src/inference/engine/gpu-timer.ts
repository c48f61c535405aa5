// The time in which a step runs on the GPU. A step begins where the engine makes a batch, and ends where its first token
// is sampled: the engine waits for the GPU before that, and makes no batch while a token is being sampled. So sampling,
// writing and waiting for readers are no part of it.

export interface GpuTimer {
  /** A batch begins. */
  begin(): void
  /** The batch is done: a token of it is about to be sampled. */
  end(): void
  /** Resolves as the work does. While none of these runs no batch can. */
  during<T>(work: Promise<T>): Promise<T>
  /** Time in ns since the last call, of a batch that runs too. */
  takeNs(): bigint
  /** The engine is on a GPU. */
  readonly isUsed: boolean
}

export function createGpuTimer(wallNs: () => bigint): GpuTimer {
  let fromNs: bigint | undefined
  let countedNs = 0n
  let working = 0
  const count = () => {
    const nowNs = wallNs()
    if (fromNs !== undefined) countedNs += nowNs - fromNs
    return nowNs
  }
  const end = () => {
    count()
    fromNs = undefined
  }
  return {
    isUsed: true,
    // The one before has ended by now: a batch without a token to sample says so by the next.
    begin: () => void (fromNs = count()),
    end,
    async during(work) {
      working++
      try {
        return await work
      } finally {
        working--
        if (working === 0) end()
      }
    },
    takeNs() {
      const nowNs = count()
      if (fromNs !== undefined) fromNs = nowNs
      const takenNs = countedNs
      countedNs = 0n
      return takenNs
    },
  }
}

/** The timer of an engine that runs on the CPU alone. */
export const NO_GPU: GpuTimer = {
  isUsed: false,
  begin: () => undefined,
  end: () => undefined,
  during: (work) => work,
  takeNs: () => 0n,
}
