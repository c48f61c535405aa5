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
/** The longest of these times while another session or cell wants energy of the same wallet or budget. */
const AHEAD_WANTED_MS = 250
/** The time between two checks where less can be held: a session that wants of it waits for a second. */
const CHECK_SCARCE_MS = 250
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
    /** The holds of all cells. */
    readonly holds: Iterable<CellHold>
    readonly end: (cell: Cell, hold: CellHold, why: ErgonError) => Promise<void>
  },
): number {
  const { elapsedMs, mostNjPerMs, used } = given.ahead
  const most = (ms: number) => nj(mostNjPerMs * BigInt(Math.ceil(ms)))
  if (hold.unpaid === undefined) {
    // The cell cannot use more, so its CPU need not be read.
    const isWanted = hold.isWanted || isShortBeside(hold, given.holds)
    if (!isWanted && hold.covers(add(most(elapsedMs + 2 * CHECK_MAX_MS), STOP_NJ))) {
      hold.isShort = false
      return CHECK_MAX_MS
    }
    const needed = add(used(), STOP_NJ)
    const aheadMaxMs = isWanted ? AHEAD_WANTED_MS : 2 * CHECK_MAX_MS
    if (isWanted) hold.keep(add(needed, most(aheadMaxMs)))
    void hold.fill(add(needed, most(aheadMaxMs)))
    const aheadMs = AHEAD_MS.find((ms) => ms <= aheadMaxMs && hold.covers(add(needed, most(ms))))
    hold.isShort = aheadMs !== aheadMaxMs
    if (aheadMs !== undefined) return Math.min(aheadMs / 2, CHECK_SCARCE_MS)
    hold.unpaid = hold.refusal
    void given.end(cell, hold, hold.unpaid)
  }
  if (!hold.isFrozen && !hold.covers(add(used(), most(AHEAD_MIN_MS)))) cell.kill()
  return ENDING_MS
}

/** True while another cell of the account can hold less than it wishes: the instances of a workload share a budget. */
function isShortBeside(hold: CellHold, holds: Iterable<CellHold>): boolean {
  for (const other of holds)
    if (other !== hold && other.isShort && other.payer.account === hold.payer.account) return true
  return false
}

/** True when a frozen cell can go on: the ledger has energy that the hold gave back, and no other session took it. */
export async function isHeldAgain(
  hold: CellHold,
  { mostNjPerMs, used }: CellAhead,
): Promise<boolean> {
  const needed = add(add(used(), STOP_NJ), nj(mostNjPerMs * BigInt(AHEAD_WANTED_MS)))
  // The first request may have been made before, for less.
  await hold.fill(needed)
  await hold.fill(needed)
  return hold.covers(needed)
}
