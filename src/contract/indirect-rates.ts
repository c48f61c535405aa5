// Learned rates of the CPU that requests cause in cells that serve all requests. The agent stores them with the
// tariff and gateways bill by them. Rates are in nanoseconds of CPU; deviations are standard deviations.
import type { StoredRates } from './stored-rates.ts'

export type IndirectRates = StoredRates & {
  /**
   * The greatest total of indirect CPU, in nanoseconds, that each session of a gateway may have billed since it
   * began. Absent: none.
   */
  readonly allowedNs?: Readonly<Record<string, number>>
}

export const NO_RATES: IndirectRates = {
  levelMilli: 1000,
  activeSecond: { value: 0, deviation: 0 },
  operations: {},
  rest: { value: 0, deviation: 0 },
}
