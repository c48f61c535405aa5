// One check of a cell that an account pays for: whether its hold reaches further than the cell can go until the check
// after the next one. It counts with all processors of the machine, and with the CPU used since the last window. Where
// less can be held, the cells of an account go equally far: none ends while another holds more than it needs.
import type { ErgonError } from '#base/errors.ts'
import { add, nj, type Nj } from '#base/units.ts'
import type { Cell } from '#cells/cell.ts'
import type { CellHold } from '#charging/cell-hold.ts'
import type { CellAhead } from './meter/meter.ts'

/** A cell that runs, and what is held for it. */
export type HeldCell = {
  readonly cell: Cell
  readonly hold: CellHold
  readonly ahead: CellAhead
  /** Kept for its orderly stop. */
  readonly stopNj: Nj
}

/** The cells of an account in one round of checks. */
export type HeldCells = {
  readonly cells: readonly HeldCell[]
  /** The longest time that a hold of them lasts, as far as the round has come. */
  aheadMaxMs: number
  /** By budget: the least part of the wished time that a hold lasts which found no more, in thousandths. */
  readonly short: Map<string, number>
}

/** A round of checks of the cells of an account. */
export const heldCells = (cells: readonly HeldCell[]): HeldCells => ({
  cells,
  aheadMaxMs: AHEAD_MAX_MS,
  short: new Map(),
})

const PERMILLE = 1000
/** The longest time between two checks. */
export const CHECK_MAX_MS = 1000
/** The time that a hold must last at the machine's full power; after half of it comes the next check. */
const AHEAD_MS = [2000, 1000, 500, 250, 100, 50, 25] as const
export const AHEAD_MAX_MS = AHEAD_MS[0]
const AHEAD_MIN_MS = 25
/** The longest of these times while another session or a start wants energy of the same wallet or budget. */
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
  held: HeldCell,
  group: HeldCells,
  end: (cell: Cell, hold: CellHold, why: ErgonError) => Promise<void>,
): number {
  const { cell, hold, ahead, stopNj } = held
  if (hold.unpaid === undefined) {
    // The cell cannot use more, so its CPU need not be read.
    const most = add(atMost(held, ahead.elapsedMs + AHEAD_MAX_MS), stopNj)
    if (!hold.isWanted && group.aheadMaxMs === AHEAD_MAX_MS && hold.covers(most))
      return CHECK_MAX_MS
    const aheadMs = holdAhead(held, group)
    if (aheadMs !== undefined) return Math.min(aheadMs / 2, CHECK_SCARCE_MS)
    hold.unpaid = hold.refusal
    void end(cell, hold, hold.unpaid)
  }
  if (!hold.isFrozen && !hold.covers(add(ahead.used(), atMost(held, AHEAD_MIN_MS)))) cell.kill()
  return ENDING_MS
}

/** Holds as much as there is, also of what the others hold ahead. Returns the time that it lasts. */
function holdAhead(held: HeldCell, group: HeldCells): number | undefined {
  const { hold } = held
  const ownMs = hold.isWanted ? AHEAD_WANTED_MS : AHEAD_MAX_MS
  const wishedMs = Math.min(group.aheadMaxMs, ownMs)
  if (hold.isWanted) hold.keep(needed(held, wishedMs))
  void hold.fill(needed(held, wishedMs))
  for (const aheadMs of AHEAD_MS) {
    if (aheadMs > wishedMs) continue
    group.aheadMaxMs = Math.min(group.aheadMaxMs, aheadMs)
    if (aheadMs < wishedMs) noteShort(held, group, (PERMILLE * aheadMs) / ownMs)
    if (hold.covers(needed(held, aheadMs))) return aheadMs
    releaseAhead(
      group.cells.filter((other) => other !== held),
      aheadMs,
    )
    if (hold.covers(needed(held, aheadMs))) return aheadMs
  }
  return undefined
}

function noteShort(held: HeldCell, { short }: HeldCells, permille: number): void {
  const budget = budgetOf(held)
  short.set(budget, Math.min(permille, short.get(budget) ?? PERMILLE))
}

/** Gives back what the holds of cells have beyond so much time ahead. */
export function releaseAhead(cells: readonly HeldCell[], aheadMs = AHEAD_WANTED_MS): void {
  for (const held of cells)
    if (held.hold.unpaid === undefined) held.hold.keep(needed(held, aheadMs))
}

/** True when a frozen cell can go on: the ledger has energy that the hold gave back, and no other session took it. */
export async function isHeldAgain(held: HeldCell): Promise<boolean> {
  const { hold } = held
  const wished = needed(held, AHEAD_WANTED_MS)
  // The first request may have been made before, for less.
  await hold.fill(wished)
  await hold.fill(wished)
  return hold.covers(wished)
}

/** Cells of one budget share what is left of it; those without one share the wallet that pays. */
export const budgetOf = ({ hold }: HeldCell): string => hold.payer.budgets?.[0] ?? ''

/** The energy of a cell so much time ahead, and of its stop. */
const needed = (held: HeldCell, aheadMs: number): Nj =>
  add(add(held.ahead.used(), held.stopNj), atMost(held, aheadMs))

const atMost = ({ ahead }: HeldCell, ms: number): Nj =>
  nj(ahead.mostNjPerMs * BigInt(Math.ceil(ms)))
