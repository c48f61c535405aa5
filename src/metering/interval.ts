// The machine between two polls: time, busy time, and CPU time of each cell, from
// counters that start, stop and are adopted.
import type { Clock } from '#base/clock.ts'
import type { BusySpan } from './sources/model.ts'
import type { CellUse, SharePayer } from './window.ts'

/** A cell's counter as its supervisor reads it. No CPU time may be in two of them. */
export type CellReading = {
  /** Unique on the node. */
  readonly name: string
  readonly payer: SharePayer
  /** Cumulative, dead processes included. */
  readonly cpuNs: bigint
  readonly reservedPpb?: number
}

/** busyNs is max(counted by the machine, Σ of the cells): the counters differ by up to a tick. */
export type Interval = BusySpan & {
  /** CPU time that all processors could give in it. */
  readonly capacityNs: bigint
  readonly cells: readonly CellUse[]
}

export type IntervalDeps = {
  readonly clock: Clock
  /** Logical processors. */
  readonly cpus: number
  /** Cumulative busy time of the machine. */
  readonly busyNs: () => bigint
  readonly cells: () => readonly CellReading[]
}

/** A function that returns what happened since its last call; the first counts from here. */
export function createIntervals(deps: IntervalDeps): () => Interval {
  const look = () => ({
    atNs: BigInt(Math.round(deps.clock.monotonicMs() * 1e6)),
    busyNs: deps.busyNs(),
    cells: deps.cells(),
  })
  let seen = look()
  let counters = countersOf(seen.cells)
  return () => {
    const now = look()
    const elapsedNs = now.atNs - seen.atNs
    const capacityNs = elapsedNs * BigInt(deps.cpus)
    const cells = now.cells.map((cell) => ({
      ...cell,
      cpuNs: usedSince(counters.get(cell.name), cell.cpuNs, capacityNs),
    }))
    const attributedNs = cells.reduce((total, cell) => total + cell.cpuNs, 0n)
    // The machine counts in ticks of 10 ms: a busy second can show a tick more than it has.
    const countedNs = smaller(now.busyNs - seen.busyNs, capacityNs)
    seen = now
    counters = countersOf(now.cells)
    return {
      elapsedNs,
      capacityNs,
      cells,
      busyNs: larger(attributedNs, countedNs),
    }
  }
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b)
const larger = (a: bigint, b: bigint) => (a > b ? a : b)

const countersOf = (cells: readonly CellReading[]): ReadonlyMap<string, bigint> =>
  new Map(cells.map((cell) => [cell.name, cell.cpuNs]))

function usedSince(before: bigint | undefined, now: bigint, capacityNs: bigint): bigint {
  if (before !== undefined && now >= before) return now - before
  // A new cell began in this window, and one whose counter fell began anew: all of it is this
  // window's, unless it is more than fits. Then the cell was adopted with a history of its own.
  return now <= capacityNs ? now : 0n
}
