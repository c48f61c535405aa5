// A sensor's reading. 0 J is a reading and never means "unavailable"; a failed reading carries its reason and is
// never 0 J (reading a forbidden RAPL file as 0 W is the field's classic fault).
import type { Nj } from '#base/units.ts'
import type { EnergyMethod } from '#contract/ledger/charge.ts'

export type Reading =
  /** A cumulative counter since an arbitrary start: two readings make an energy. */
  | { readonly kind: 'counter'; readonly totalNj: Nj }
  /** Power now, in milliwatts, taken to hold since the reading before. */
  | { readonly kind: 'power'; readonly milliwatts: bigint }

export type Unavailable = { readonly kind: 'unavailable'; readonly reason: string }

export const unavailable = (reason: string): Unavailable => ({ kind: 'unavailable', reason })

/** A sensor of the whole machine. The CPU model is none of these: it can never be unavailable. */
export interface MeterSource {
  /** The meter's name on receipts and in windows: rapl, plug. */
  readonly name: string
  readonly method: EnergyMethod
  /** Declared error band in whole percent. */
  readonly bandPct: number
  /** Error of a reading whatever its height, beside `bandPct`: of the power of a window, and of its dynamic part. */
  readonly errorMilliwatts?: bigint
  /** The sensor's reading of an idle machine, where it was calibrated; else the model's estimate is taken. */
  readonly idleMilliwatts?: bigint
  /** More than this cannot be true: such a reading is quarantined and never billed. */
  ceilingMilliwatts(): bigint
  /** Never rejects for a fault of a sensor or network; obeys its own timeout and the signal. */
  read(signal: AbortSignal): Promise<Reading | Unavailable>
  close(): Promise<void>
}
