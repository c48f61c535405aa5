// One check of a cell that an account pays for: whether its hold reaches further than the cell can go until the check
// after the next one. It counts with all processors of the machine, and with the CPU used since the last window. Where a
// wallet or a budget has less, its cells go equally far: none ends while another holds more than it needs.
import type { ErgonError } from '#base/errors.ts'
import { add, nj, type Nj } from '#base/units.ts'
import type { Cell } from '#cells/cell.ts'
import type { CellHold } from '#charging/cell-hold.ts'
import type { CellAhead } from './meter/meter.ts'

/** A running cell and its hold. */
export type HeldCell = {
  readonly cell: Cell
  readonly hold: CellHold
  readonly ahead: CellAhead
  /** Kept for its orderly stop. */
  readonly stopNj: Nj
}

/** A cell after its check. */
export type CheckedCell = {
  readonly held: HeldCell
  /** The time until the next check. */
  readonly restMs: number
  /** The time that its hold lasts where nothing limits it. */
  readonly ownMs: number
  readonly isKilled: boolean
}

/** The cells of an account after one round of checks. */
export type CheckedCells = {
  readonly checked: readonly CheckedCell[]
  /** The longest time that a hold lasts, where that is short, for each budget and for the paying wallet. */
  readonly reachMs: ReadonlyMap<string, number>
}

/** A round of checks, as far as it has come. */
type Round = { readonly cells: readonly HeldCell[]; readonly reachMs: Map<string, number> }

type EndUnpaid = (cell: Cell, hold: CellHold, why: ErgonError) => Promise<void>

/** Checks the cells of an account. */
export function checkCells(cells: readonly HeldCell[], end: EndUnpaid): CheckedCells {
  const round: Round = { cells, reachMs: new Map() }
  return { checked: cells.map((held) => checkCell(held, round, end)), reachMs: round.reachMs }
}

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

/** Ends a cell whose hold cannot grow, and kills one that uses up its hold while it stops. */
function checkCell(held: HeldCell, round: Round, end: EndUnpaid): CheckedCell {
  const { cell, hold, ahead, stopNj } = held
  const ownMs = hold.isWanted ? AHEAD_WANTED_MS : AHEAD_MAX_MS
  const isKilled = false
  if (hold.unpaid === undefined) {
    // The cell cannot use more, so its CPU need not be read.
    const most = add(atMost(held, ahead.elapsedMs + AHEAD_MAX_MS), stopNj)
    if (!hold.isWanted && reachOf(held, round) === AHEAD_MAX_MS && hold.covers(most))
      return { held, restMs: CHECK_MAX_MS, ownMs, isKilled }
    const aheadMs = holdAhead(held, round, ownMs)
    if (aheadMs !== undefined)
      return { held, restMs: Math.min(aheadMs / 2, CHECK_SCARCE_MS), ownMs, isKilled }
    hold.unpaid = hold.refusal
    void end(cell, hold, hold.unpaid)
  }
  if (hold.isFrozen || hold.covers(add(ahead.used(), atMost(held, AHEAD_MIN_MS))))
    return { held, restMs: ENDING_MS, ownMs, isKilled }
  cell.kill()
  return { held, restMs: ENDING_MS, ownMs, isKilled: true }
}

/**
 * Holds as much as there is, also of the advance holds of other cells on the same wallet or budget. Returns the time
 * that it lasts.
 */
function holdAhead(held: HeldCell, round: Round, ownMs: number): number | undefined {
  const { hold } = held
  const wishedMs = Math.min(reachOf(held, round), ownMs)
  if (hold.isWanted) hold.keep(needed(held, wishedMs))
  void hold.fill(needed(held, wishedMs))
  for (const [nth, aheadMs] of AHEAD_MS.entries()) {
    if (aheadMs > wishedMs) continue
    if (hold.covers(needed(held, aheadMs))) return aheadMs
    const limit = shortLimitOf(held)
    releaseAhead(
      round.cells.filter((other) => other !== held && limitsOf(other).includes(limit)),
      aheadMs,
    )
    if (hold.covers(needed(held, aheadMs))) return aheadMs
    const lessMs = AHEAD_MS[nth + 1] ?? AHEAD_MIN_MS
    round.reachMs.set(limit, Math.min(lessMs, round.reachMs.get(limit) ?? lessMs))
  }
  return undefined
}

/** The wallet that pays for all cells of an account, as a name beside those of budgets. */
const WALLET = ''

/** The limits of a cell: the wallet that pays, and its budgets. */
export const limitsOf = ({ hold }: HeldCell): readonly string[] => [
  WALLET,
  ...(hold.payer.budgets ?? []),
]

/** The one that has the least. */
const shortLimitOf = ({ hold }: HeldCell): string => {
  const { code, details } = hold.refusal
  return code === 'budget_exhausted' ? String(details?.['budget']) : WALLET
}

const reachOf = (held: HeldCell, { reachMs }: Round): number =>
  Math.min(...limitsOf(held).map((limit) => reachMs.get(limit) ?? AHEAD_MAX_MS))

/** Gives back the parts of cells' holds beyond that time ahead. */
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

/** The energy of a cell until that time ahead, and of its stop. */
const needed = (held: HeldCell, aheadMs: number): Nj =>
  add(add(held.ahead.used(), held.stopNj), atMost(held, aheadMs))

const atMost = ({ ahead }: HeldCell, ms: number): Nj =>
  nj(ahead.mostNjPerMs * BigInt(Math.ceil(ms)))
