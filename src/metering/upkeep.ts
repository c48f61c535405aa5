// Upkeep: work of our own that no request causes, such as lifecycle rules, garbage and re-reading. Its CPU is the operator's.
// The process that does upkeep counts its own CPU, and the time of its statements in the state. Requests of
// the same seconds pay for no CPU up to that time. Where upkeep costs more, its rate is learned (indirect.ts).
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

/** CPU of a unit before anything is learned. */
export const UPKEEP_FIRST: Rate = { value: 0.8 * UPKEEP_UNIT_MS, deviation: 0.2 * UPKEEP_UNIT_MS }

/**
 * CPU of the state that no request pays for, of a window with `workMs` of CPU beyond rest, at a learned rate of a unit. All time
 * of the statements is the least, since a process of PostgreSQL spends no more. The real part was 1.3 to 12 % on a busy machine,
 * where statements wait for the processor. A minute later 95 % is possible, and the load of that minute cannot be told from it.
 */
export function upkeepMsOf({ statementMs }: UpkeepWork, learnedMs: number, workMs: number): number {
  const factor = Math.max(1, learnedMs / UPKEEP_UNIT_MS)
  return Math.min(statementMs * factor, Math.max(0, workMs))
}

export const addUpkeep = (a: UpkeepWork, b: UpkeepWork): UpkeepWork => ({
  ownNs: a.ownNs + b.ownNs,
  statementMs: a.statementMs + b.statementMs,
})
