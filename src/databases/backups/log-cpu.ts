// The CPU of the process that stores logs, by the server whose log it is: the agent adds it to the server's own
// (caused-cpu.ts). Compression, checksums and files go on in threads, for several databases at once, so no mark between
// two pieces of work can tell them apart. The CPU between two readings is split by the messages that
// came and the pieces and bytes that were stored meanwhile. A database that is alone pays its CPU exactly, and all parts
// add up to the CPU of the process.
import { processCpuNs, type MarkOwner } from '#metering/marks.ts'
import {
  createCausedByCells,
  type CausedByCells,
  type CausedMarks,
} from '#node/meter/caused-by-cells.ts'

export interface LogCpu extends Pick<CausedByCells, 'totals'> {
  /** Begins the measure of work for the server that runs in a cell. */
  begin(cell: string): LogWork
}

export interface LogWork {
  /** A message of the server with so many bytes of the log has come. */
  heard(count: number): void
  /** A piece of the log is about to be stored: a blob of its own, a key and a row. */
  piece(): void
  /** So many bytes of the log are about to be compressed. */
  bytes(count: number): void
  /** So many compressed bytes are about to be encrypted and written. */
  stored(count: number): void
  end(): void
}

/**
 * Weights in nanoseconds. Measured in files: a piece of 1 KB takes 1.7 to 2.4 ms. A piece of 4 MiB takes 4 to 6 ms where
 * it has zeros, 10 to 12 ms where it has text, and 28 to 33 ms where it has random bytes.
 */
const OF_PIECE = 1_900_000
/** Commits of a session that waits for each come as a message each: 0.15 ms with its turn of the event loop. */
const OF_MESSAGE = 150_000
const OF_HEARD_BYTE = 0.5
const OF_BYTE = 0.8
const OF_STORED_BYTE = 6

export function createLogCpu(cpuNs: () => number = processCpuNs): LogCpu {
  const caused = createCausedByCells(createSplitMarks(cpuNs))
  return {
    totals: () => caused.totals(),
    begin(cell) {
      const work = caused.begin(cell)
      return {
        heard: (count) => work.piece(OF_MESSAGE + count * OF_HEARD_BYTE),
        piece: () => work.piece(OF_PIECE),
        bytes: (count) => work.piece(count * OF_BYTE),
        stored: (count) => work.piece(count * OF_STORED_BYTE),
        end: () => work.end(),
      }
    },
  }
}

/** Marks of a process whose CPU is split at each reading among the pieces since the one before. */
function createSplitMarks(cpuNs: () => number): CausedMarks {
  const weights = new Map<MarkOwner, number>()
  let weightSum = 0
  let lastNs = cpuNs()
  return {
    accounting: { operator: { cpuNs: 0 } },
    piece(owner, weight) {
      weights.set(owner, (weights.get(owner) ?? 0) + weight)
      weightSum += weight
    },
    mark(owner) {
      const nowNs = cpuNs()
      let leftNs = Math.max(0, nowNs - lastNs)
      lastNs = Math.max(nowNs, lastNs)
      const movedNs = leftNs
      if (weightSum === 0) return void (owner.cpuNs += movedNs)
      const last = [...weights.keys()].at(-1)
      for (const [one, weight] of weights) {
        const partNs = one === last ? leftNs : Math.floor((movedNs * weight) / weightSum)
        one.cpuNs += partNs
        leftNs -= partNs
      }
      weights.clear()
      weightSum = 0
    },
  }
}
