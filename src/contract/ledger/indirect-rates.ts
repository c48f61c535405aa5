// Learned rates of the CPU that requests cause in cells that serve all requests. The agent stores them with the
// tariff and gateways bill by them. Rates are in nanoseconds of CPU; deviations are standard deviations.
import type { StoredRates } from './stored-rates.ts'

export type IndirectRates = StoredRates & {
  /**
   * The greatest total of indirect CPU, in nanoseconds, that each session of a gateway may have billed since it
   * began. Absent: none.
   */
  readonly allowedNs?: Readonly<Record<string, number>>
  /** Of what each session has billed ahead of the windows, the total that windows have seen. Absent: nothing. */
  readonly seenAheadNs?: Readonly<Record<string, number>>
}

export const NO_RATES: IndirectRates = {
  levelMilli: 1000,
  activeSecond: { value: 0, deviation: 0 },
  operations: {},
  rest: { value: 0, deviation: 0 },
}

/** Rates by which a request can be billed: `rates`, or none where one of them is no number that a rate can be. */
export const usableRates = (rates: IndirectRates): IndirectRates =>
  isUsable(rates) ? rates : NO_RATES

const isRate = (rate: { value: number; deviation: number } | undefined): boolean =>
  isNatural(rate?.value) && isNatural(rate?.deviation)
const isNatural = (value: number | undefined): boolean =>
  // In JSON a number that is none is null, which is above or equal to 0.
  typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER

// The check does not use the schema of stored rates: programs that bill do not load zod.
const isUsable = ({
  levelMilli,
  activeSecond,
  operations,
  rest,
  upkeep,
  ...totals
}: IndirectRates) =>
  isNatural(levelMilli) &&
  isRate(activeSecond) &&
  isRate(rest) &&
  (upkeep === undefined || isRate(upkeep)) &&
  Object.values(operations).every(
    (rate) =>
      isRate(rate) &&
      isRate(rate.own) &&
      Object.values(rate.covariances).every((value) => Number.isFinite(value)),
  ) &&
  Object.values(totals)
    .flatMap((of) => Object.values(of))
    .every((value) => Number.isInteger(value))
