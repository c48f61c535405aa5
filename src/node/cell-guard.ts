// One check of a cell that an account pays for: whether its hold reaches further than the cell can go until the check
// after the next one. It counts with all processors of the machine, and with the CPU used since the last window.
import type { ErgonError } from '#base/errors.ts'
import { add, nj } from '#base/units.ts'
import type { Cell } from '#cells/cell.ts'
import type { CellHold } from '#charging/cell-hold.ts'
import type { CellAhead } from './meter/meter.ts'

/** The longest time between two checks. */
export const CHECK_MAX_MS = 1000
/** Kept for an orderly stop: the last words for clients, and a shutdown checkpoint. */
export const STOP_NJ = nj(500_000_000n)
/** The time that a hold must last at the machine's full power; after half of it comes the next check. */
const AHEAD_MS = [2000, 1000, 500, 250, 100, 50, 25] as const
const AHEAD_MIN_MS = 25
/** While a cell is being ended. */
const ENDING_MS = 10

/**
 * Ends a cell whose hold cannot grow, and kills one that uses up its hold while it stops. Returns the time
 * until the next check.
 */
export function checkCell(
  cell: Cell,
  hold: CellHold,
  given: {
    readonly ahead: CellAhead
    readonly end: (cell: Cell, hold: CellHold, why: ErgonError) => Promise<void>
  },
): number {
  const { elapsedMs, mostNjPerMs, used } = given.ahead
  const most = (ms: number) => nj(mostNjPerMs * BigInt(Math.ceil(ms)))
  if (hold.unpaid === undefined) {
    // The cell cannot use more, so its CPU need not be read.
    if (hold.covers(add(most(elapsedMs + 2 * CHECK_MAX_MS), STOP_NJ))) return CHECK_MAX_MS
    const needed = add(used(), STOP_NJ)
    void hold.fill(add(needed, most(2 * CHECK_MAX_MS)))
    const aheadMs = AHEAD_MS.find((ms) => hold.covers(add(needed, most(ms))))
    if (aheadMs !== undefined) return aheadMs / 2
    hold.unpaid = hold.refusal
    void given.end(cell, hold, hold.unpaid)
  }
  if (!hold.isFrozen && !hold.covers(add(used(), most(AHEAD_MIN_MS)))) cell.kill()
  return ENDING_MS
}
