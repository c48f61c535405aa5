// The output of `ergon meter`: figures as text, printed by the one printer.
import { add, printDecimal, type Nj } from '#base/units.ts'
import type { ControlAnswer } from '#contract/control.ts'
import { powerOf } from './power.ts'
import type { CellTariff, Pricing } from './pricing.ts'
import type { CpuModel } from './sources/model.ts'
import type { IdleFrom } from './sources/sensors.ts'
import type { Share, MeterWindow } from './window.ts'

/** The status of the meter without the parts that the node adds. */
export type MeterStatus = Omit<ControlAnswer<'meter.status'>, 'carbon' | 'indirect' | 'gpu'>

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
  readonly pricing: Pricing
  readonly totals: MeterTotals
}): MeterStatus {
  const { last, model, pricing, totals } = meter
  const { totals: trueUp } = pricing
  return {
    meter: meter.meter,
    ...(last === undefined ? {} : { now: nowOf(last, meter) }),
    model: { basis: model.basis, band_pct: String(model.bandPct), cpus: String(model.cpus) },
    pue: printDecimal(meter.pueMilli, 3),
    tariff_j_per_cpu_s: printDecimal(pricing.njPerCpuS, 9),
    windows: String(totals.windows),
    windows_fallback: String(totals.fallbacks),
    reading_nj: String(totals.readingNj),
    true_up: {
      accrued_nj: String(trueUp.accruedNj),
      share_nj: String(trueUp.shareNj),
      true_up_nj: String(trueUp.trueUpNj),
      carried_nj: String(pricing.carriedNj),
    },
  }
}

const nowOf = (
  window: MeterWindow,
  { idleFrom, pricing }: { readonly idleFrom: IdleFrom; readonly pricing: Pricing },
): NonNullable<MeterStatus['now']> => ({
  k: String(window.k),
  method: window.method,
  band_pct: String(window.bandPct),
  watts: watts(window.readingNj, window),
  idle_watts: watts(window.idleNj, window),
  billed_watts: watts(window.accruedNj, window),
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
    idle_watts: watts(share.idleNj, window),
    ...tariffOf(pricing.cells.get(share.name)),
  })),
})

const tariffOf = (tariff: CellTariff | undefined) =>
  tariff === undefined ? {} : { tariff_j_per_cpu_s: printDecimal(tariff.njPerCpuS, 9) }

const energyOf = (share: Share): Nj => add(share.dynamicNj, share.idleNj)
const watts = (energy: Nj, window: MeterWindow) =>
  printDecimal(powerOf(energy, window.elapsedNs), 3)
