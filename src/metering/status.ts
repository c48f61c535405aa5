// The output of `ergon meter`: figures as text, printed by the one printer.
import { add, printDecimal, type Nj } from '#base/units.ts'
import { powerOf } from './power.ts'
import type { CpuModel } from './sources/model.ts'
import type { IdleFrom } from './sources/sensors.ts'
import type { TariffMeter } from './tariff.ts'
import type { TrueUpTotals } from './true-up.ts'
import type { Share, MeterWindow } from './window.ts'

export type MeterStatus = {
  readonly meter: string
  /** Absent until the first window has closed. */
  readonly now?: {
    readonly k: string
    readonly method: string
    readonly band_pct: string
    readonly watts: string
    readonly idle_watts: string
    /** The source of the figure: the setting, a calibration, or the processor's model. */
    readonly idle_from: IdleFrom
    readonly busy_cpus: string
    readonly fallback?: string
    readonly split: readonly ShareStatus[]
  }
  readonly model: { readonly basis: string; readonly band_pct: string; readonly cpus: string }
  readonly pue: string
  readonly tariff_j_per_cpu_s: string
  readonly windows: string
  /** Windows in which the best sensor was passed over. */
  readonly windows_fallback: string
  readonly reading_nj: string
  readonly true_up: {
    /** Of open and settled work. */
    readonly accrued_nj: string
    readonly share_nj: string
    readonly true_up_nj: string
    readonly carried_nj: string
  }
}

type ShareStatus = { readonly name: string; readonly payer: string; readonly watts: string }

/** Totals since the meter began. */
export type MeterTotals = {
  readonly windows: number
  readonly fallbacks: number
  readonly readingNj: Nj
}

export function statusOf(meter: {
  readonly meter: string
  readonly last: MeterWindow | undefined
  readonly idleFrom: IdleFrom
  readonly model: CpuModel
  readonly pueMilli: bigint
  readonly tariff: TariffMeter
  readonly trueUp: TrueUpTotals
  readonly totals: MeterTotals
}): MeterStatus {
  const { last, model, tariff, trueUp, totals } = meter
  return {
    meter: meter.meter,
    ...(last === undefined ? {} : { now: nowOf(last, meter.idleFrom) }),
    model: { basis: model.basis, band_pct: String(model.bandPct), cpus: String(model.cpus) },
    pue: printDecimal(meter.pueMilli, 3),
    tariff_j_per_cpu_s: printDecimal(tariff.njPerCpuS, 9),
    windows: String(totals.windows),
    windows_fallback: String(totals.fallbacks),
    reading_nj: String(totals.readingNj),
    true_up: {
      accrued_nj: String(trueUp.accruedNj),
      share_nj: String(trueUp.shareNj),
      true_up_nj: String(trueUp.trueUpNj),
      carried_nj: String(tariff.carriedNj),
    },
  }
}

const nowOf = (window: MeterWindow, idleFrom: IdleFrom): NonNullable<MeterStatus['now']> => ({
  k: String(window.k),
  method: window.method,
  band_pct: String(window.bandPct),
  watts: watts(window.readingNj, window),
  idle_watts: watts(window.idleNj, window),
  idle_from: idleFrom,
  busy_cpus: printDecimal(
    window.elapsedNs === 0n ? 0n : (window.busyNs * 1000n) / window.elapsedNs,
    3,
  ),
  ...(window.fallback === undefined ? {} : { fallback: window.fallback }),
  split: window.shares.map((share) => ({
    name: share.name,
    payer: share.payer.kind === 'account' ? share.payer.account : share.payer.kind,
    watts: watts(energyOf(share), window),
  })),
})

const energyOf = (share: Share): Nj => add(share.dynamicNj, share.idleNj)
const watts = (energy: Nj, window: MeterWindow) =>
  printDecimal(powerOf(energy, window.elapsedNs), 3)
