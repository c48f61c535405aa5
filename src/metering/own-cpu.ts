// A thread counts its own CPU where the thread that marks can read it: in memory that both share, because a message
// would be read only after its CPU was charged to others.

const US = 1000

/** The reader's end. */
export type ThreadCounter = {
  /** True once the thread counts. */
  counts(): boolean
  /** CPU that it has counted since, in multiples of 1000 ns. */
  countedNs(): number
}

/**
 * CPU of the thread that asks, to 1 µs. Reading the process's first brings the kernel's figure up to date:
 * by itself it moves in scheduler ticks.
 */
export function ownCpuNs(): number {
  process.cpuUsage()
  const { user, system } = process.threadCpuUsage()
  return (user + system) * US
}

export type CounterMemory = Int32Array<SharedArrayBuffer>

const COUNTS = 0
const COUNTED_US = 1

/** Memory for one thread's counter. */
export const counterMemory = (): CounterMemory =>
  new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))

/** Reads a counter. It holds 71 minutes of CPU, so it must be read more often than that. */
export function readCounter(memory: CounterMemory): ThreadCounter {
  let seenUs = 0
  let totalNs = 0
  return {
    counts: () => Atomics.load(memory, COUNTS) === 1,
    countedNs() {
      const nowUs = Atomics.load(memory, COUNTED_US)
      // The difference of two 32-bit numbers that turn over.
      totalNs += ((nowUs - seenUs) >>> 0) * US
      seenUs = nowUs
      return totalNs
    },
  }
}

/**
 * The thread's end: begins to count. Each call counts what the thread spent since the last one, and
 * returns it in nanoseconds.
 */
export function countOwnCpu(memory: CounterMemory, cpuNs: () => number = ownCpuNs): () => number {
  let lastNs = cpuNs()
  Atomics.store(memory, COUNTS, 1)
  return () => {
    const spentNs = Math.max(0, cpuNs() - lastNs)
    lastNs += spentNs
    Atomics.add(memory, COUNTED_US, spentNs / US)
    return spentNs
  }
}
