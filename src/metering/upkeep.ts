// Upkeep: work of our own that no request causes, such as lifecycle rules, garbage and re-reading. Its CPU is the operator's.
// The process that does upkeep counts its own CPU, and that of its connections in the state. Requests of the same seconds pay
// for none of it. Other processes of the state work for upkeep too, as for its log: that is learned as a part (indirect.ts).
import type { Rate } from './kalman.ts'

/** The upkeep of a window, or totals of a process; nanoseconds of CPU. */
export type UpkeepWork = {
  /** The process itself uses it; what accounts pay is left out. */
  readonly ownNs: number
  /** Its connections use it in the state; 0 of a state on another machine. */
  readonly stateNs: number
}

/** The totals of a process since its start. */
export type UpkeepTotals = UpkeepWork & {
  /** Another one for each process. */
  readonly life: string
}

export const NO_UPKEEP: UpkeepWork = { ownNs: 0, stateNs: 0 }

/** The regressor of the CPU of upkeep in the state, counted in units of this number of milliseconds. */
export const UPKEEP = 'upkeep'
export const UPKEEP_UNIT_MS = 100

/** CPU of the whole state, as a part of that of the connections: batches of 100 to 5,000 deleted rows had 1.09 to 1.19. */
const STATE_LEAST = 1.1

/** CPU of the whole state for a unit before anything is learned. */
export const UPKEEP_FIRST: Rate = {
  value: STATE_LEAST * UPKEEP_UNIT_MS,
  deviation: 0.2 * UPKEEP_UNIT_MS,
}

/** CPU of the state that no request pays for, of a window with `workMs` of CPU beyond rest, at a learned rate of a unit. */
export function upkeepMsOf({ stateNs }: UpkeepWork, learnedMs: number, workMs: number): number {
  const factor = Math.max(STATE_LEAST, learnedMs / UPKEEP_UNIT_MS)
  return Math.min((stateNs / 1e6) * factor, Math.max(0, workMs))
}

export const addUpkeep = (a: UpkeepWork, b: UpkeepWork): UpkeepWork => ({
  ownNs: a.ownNs + b.ownNs,
  stateNs: a.stateNs + b.stateNs,
})
