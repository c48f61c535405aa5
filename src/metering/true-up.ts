// The true-up: the bill of work for its CPU time, less that CPU time's part of the dynamic energy. Above zero
// customers paid too much, below zero the operator absorbed the difference. It is published.
//
// CPU time is billed at the tariff of the first admit of its work, also while the work runs: only its gateway knows that tariff.
// Valued at the current tariff, a stream of 40 CPU-s turned a rounding error of 1 nJ into a tariff that jumped between 0 and
// the model's every second. Each piece of time on a GPU is billed at the tariff of its claim, and keeps that value.
import { add, nj, subtract, type Nj } from '#base/units.ts'
import type { Split } from './window.ts'

/** Running totals of the work that is billed by tariff, over all processes of a node; neither may fall. */
export type Billed = {
  /** CPU time of open and settled work so far, the learned tails of the settled included. */
  readonly chargedNs: bigint
  /**
   * Its energy, each work's at its own tariff and at most its hold. Parts of upstreams are not in it:
   * they answer for themselves.
   */
  readonly accruedNj: Nj
}

export const NOTHING_BILLED: Billed = { chargedNs: 0n, accruedNj: nj(0n) }

export const addBilled = (a: Billed, b: Billed): Billed => ({
  chargedNs: a.chargedNs + b.chargedNs,
  accruedNj: add(a.accruedNj, b.accruedNj),
})

/** The bills of the time between. */
export const billedSince = (now: Billed, before: Billed): Billed => ({
  chargedNs: now.chargedNs - before.chargedNs,
  accruedNj: subtract(now.accruedNj, before.accruedNj),
})

/** Bills by cell. */
export type BilledByCell = ReadonlyMap<string, Billed>

/**
 * Adds bills to the totals of their cells. A bill of nothing takes no place. Names are those of the operator's models, so they
 * need no limit. With a limit of 256 the order of merges decided which cells had a total of their own. Totals fell, or were
 * booked twice.
 */
export function addByCell(
  totals: Map<string, Billed>,
  more: Iterable<readonly [cell: string, billed: Billed]>,
): void {
  for (const [cell, billed] of more)
    if (billed.chargedNs > 0n || billed.accruedNj > 0n)
      totals.set(cell, addBilled(totals.get(cell) ?? NOTHING_BILLED, billed))
}

export type TrueUpTotals = {
  readonly accruedNj: Nj
  /** The same CPU time's part of the dynamic energy of the windows it ran in. */
  readonly shareNj: Nj
  /** accrued − share. */
  readonly trueUpNj: Nj
}

/** The true-up of one window. */
export type TrueUpOfWindow = Billed & { readonly trueUpNj: Nj }

export interface TrueUp {
  readonly totals: TrueUpTotals
  /** Adds the window that was split so. */
  close(split: Pick<Split, 'dynamicNj' | 'busyNs'>): TrueUpOfWindow
}

export const NO_TRUE_UP: TrueUpTotals = {
  accruedNj: nj(0n),
  shareNj: nj(0n),
  trueUpNj: nj(0n),
}

/** The true-up of bills since the window before, of work that took this part of a window. */
export function trueUpOf(
  { chargedNs, accruedNj }: Billed,
  { dynamicNj, busyNs }: Pick<Split, 'dynamicNj' | 'busyNs'>,
): TrueUpTotals {
  const shareNj = nj(busyNs === 0n ? 0n : (chargedNs * dynamicNj) / busyNs)
  return { accruedNj, shareNj, trueUpNj: subtract(accruedNj, shareNj) }
}

export const addTrueUp = (a: TrueUpTotals, b: TrueUpTotals): TrueUpTotals => ({
  accruedNj: add(a.accruedNj, b.accruedNj),
  shareNj: add(a.shareNj, b.shareNj),
  trueUpNj: add(a.trueUpNj, b.trueUpNj),
})

/** Counts from now: what was billed before this meter began has no window here. */
export function createTrueUp(billed: () => Billed): TrueUp {
  let seen = billed()
  let totals = NO_TRUE_UP
  return {
    get totals() {
      return totals
    },
    close(split) {
      const now = billed()
      const more = billedSince(now, seen)
      seen = now
      const trueUp = trueUpOf(more, split)
      totals = addTrueUp(totals, trueUp)
      return { ...more, trueUpNj: trueUp.trueUpNj }
    },
  }
}
