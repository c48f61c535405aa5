// A window: about one second of one meter, closed. Its reading is an integer of nanojoules that is
// split to the last one: Σ shares = reading, in every window, or the bill is not the meter.
import { invariant } from '#base/errors.ts'
import { nj, smaller, splitByWeight, subtract, sum, type Nj } from '#base/units.ts'
import type { EnergyMethod } from '#contract/ledger/charge.ts'
import { NS_PER_S } from './power.ts'

/** The payer of a share: an account by window, callers by their claims, or the operator. */
export type SharePayer =
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'caller' | 'operator' }

/** One cell's use of a window. */
export type CellUse = {
  readonly name: string
  readonly payer: SharePayer
  /** CPU time in this window, dead processes of the cell included. */
  readonly cpuNs: bigint
  /** Billionths of the machine's memory that are kept for it, rounded down. */
  readonly reservedPpb?: number
}

export type Share = {
  readonly name: string
  readonly payer: SharePayer
  readonly cpuNs: bigint
  /** Its part of the energy that work added. */
  readonly dynamicNj: Nj
  /** Its part of the machine's idle energy, by reservation. */
  readonly idleNj: Nj
}

export type MeterWindow = {
  readonly meter: string
  /** Unix second at which it closed, made unique: each of a meter is greater than the one before. */
  readonly k: number
  readonly elapsedNs: bigint
  readonly busyNs: bigint
  readonly readingNj: Nj
  readonly idleNj: Nj
  readonly method: EnergyMethod
  readonly bandPct: number
  readonly pueMilli: bigint
  /** Dynamic nJ per CPU-second of this window; 0 when nothing was busy. */
  readonly njPerCpuS: bigint
  /** CPU time that requests pay for by tariff, and their payment: with the above, the true-up. */
  readonly chargedNs: bigint
  readonly accruedNj: Nj
  /** The tariff in force after this window, in nJ per CPU-second. */
  readonly tariffNjPerCpuS: bigint
  /** Why a sensor was not believed or not heard, when the model stands in for it. */
  readonly fallback?: string
  readonly shares: readonly Share[]
}

/** The share that no cell used or reserved. No cell can have this name: theirs are kebab-case. */
export const REST = '(rest)'

export type Split = {
  readonly idleNj: Nj
  readonly dynamicNj: Nj
  /** max(busy of the machine, Σ attributed): the two are read from different counters. */
  readonly busyNs: bigint
  readonly njPerCpuS: bigint
  readonly shares: readonly Share[]
}

/**
 * Splits a reading. The idle part (at most the reading) goes to those who reserve memory, rounded down to the
 * nanojoule, and its remainder to the operator. The dynamic part is split by CPU time, by largest remainder; the
 * unattributed part of the machine's busy time is the operator's. Where `weigh` is given, the part of the
 * cells is split by its weights. Σ shares = reading exactly.
 */
export function splitReading(options: {
  readonly readingNj: Nj
  /** The idle energy of the machine over this window. */
  readonly idleDrawNj: Nj
  readonly busyNs: bigint
  readonly cells: readonly CellUse[]
  /** The weights of the cells in the energy that their time took together; above zero where a cell has time. */
  readonly weigh?: ((ofCells: EnergyOfTime) => readonly bigint[]) | undefined
}): Split {
  const { readingNj, cells, weigh } = options
  const idleNj = smaller(readingNj, options.idleDrawNj)
  const dynamicNj = subtract(readingNj, idleNj)
  const attributedNs = cells.reduce((total, cell) => total + cell.cpuNs, 0n)
  const busyNs = attributedNs > options.busyNs ? attributedNs : options.busyNs
  const restNs = busyNs - attributedNs
  const ofCells = { dynamicNj: nj(partOf(dynamicNj, attributedNs, busyNs)), busyNs: attributedNs }
  const byCpu =
    weigh === undefined
      ? divide(dynamicNj, [...cells.map((cell) => cell.cpuNs), restNs])
      : [
          ...splitByWeight(ofCells.dynamicNj, weigh(ofCells)),
          subtract(dynamicNj, ofCells.dynamicNj),
        ]
  const byReserve = splitIdle(idleNj, cells)
  const owners: CellUse[] = [...cells, { name: REST, payer: { kind: 'operator' }, cpuNs: restNs }]
  const shares = owners.map((owner, index) => ({
    name: owner.name,
    payer: owner.payer,
    cpuNs: owner.cpuNs,
    dynamicNj: nj(byCpu[index] ?? 0n),
    idleNj: nj(byReserve[index] ?? 0n),
  }))
  invariant(sumOfShares(shares) === readingNj, 'a window must split into exactly its reading')
  const njPerCpuS = partOf(dynamicNj, NS_PER_S, busyNs)
  return { idleNj, dynamicNj, busyNs, njPerCpuS, shares }
}

/** Energy that work added, and the time of that work. */
export type EnergyOfTime = Pick<Split, 'dynamicNj' | 'busyNs'>

const partOf = (energy: Nj, ns: bigint, ofNs: bigint): bigint =>
  ofNs === 0n ? 0n : (energy * ns) / ofNs

/** Σ of all shares, which is the reading. */
export const sumOfShares = (shares: readonly Share[]): Nj =>
  sum(shares.flatMap((share) => [share.dynamicNj, share.idleNj]))

/** Splits by weight; when nobody has any, the last (the operator) takes all. */
function divide(total: Nj, weights: readonly bigint[]): bigint[] {
  if (weights.some((weight) => weight > 0n)) return splitByWeight(total, weights)
  return weights.map((_, index) => (index === weights.length - 1 ? total : 0n))
}

const PPB = 1_000_000_000n

/** By reserved memory, then what nobody reserved; cells that reserve more than the machine has share all of it. */
function splitIdle(idleNj: Nj, cells: readonly CellUse[]): bigint[] {
  const reserved = cells.map((cell) => BigInt(cell.reservedPpb ?? 0))
  const all = reserved.reduce((total, ppb) => total + ppb, 0n)
  const each = reserved.map((ppb) => (idleNj * ppb) / (all > PPB ? all : PPB))
  return [...each, each.reduce((rest, part) => rest - part, BigInt(idleNj))]
}
