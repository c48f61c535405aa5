// Upkeep: work of our own that no request causes, such as lifecycle rules, garbage and re-reading. Its CPU is the operator's.
// The process that does upkeep counts its own CPU, and the time of its statements in the state. The CPU of PostgreSQL for
// a second of these statements is learned (indirect.ts), so that requests of the same seconds do not pay for upkeep.
import type { Rate } from './kalman.ts'

/** The upkeep of a window, or totals of a process. */
export type UpkeepWork = {
  /** CPU of the process itself that no account pays. */
  readonly ownNs: number
  /** Statements that run side by side have their time each. */
  readonly statementMs: number
}

export const NO_UPKEEP: UpkeepWork = { ownNs: 0, statementMs: 0 }

/** The regressor of statements, which are counted in units of this number of milliseconds. */
export const UPKEEP = 'upkeep'
export const UPKEEP_UNIT_MS = 100

/**
 * CPU of a unit before anything is learned. A process of PostgreSQL spends no more than the time of its statement, and waits
 * for disk and locks in a part of that time.
 */
export const UPKEEP_FIRST: Rate = { value: 0.8 * UPKEEP_UNIT_MS, deviation: 0.2 * UPKEEP_UNIT_MS }

export const addUpkeep = (a: UpkeepWork, b: UpkeepWork): UpkeepWork => ({
  ownNs: a.ownNs + b.ownNs,
  statementMs: a.statementMs + b.statementMs,
})
