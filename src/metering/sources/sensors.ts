// All sensors of a node, the best first: each window takes the first that can be believed, never a
// sum (they measure the same joules at different places), and the model when none can.
import { withPue, type Nj } from '#base/units.ts'
import type { EnergyMethod } from '#contract/ledger/charge.ts'
import { energyOfPower } from '#metering/power.ts'
import { createGauge } from './gauge.ts'
import type { CpuModel, BusySpan } from './model.ts'
import { unavailable, type MeterSource } from './source.ts'

/** `model` is a guess where a sensor measures: idle power differs by ten times between machines. */
export type IdleFrom = 'setting' | 'calibration' | 'model'

/** The energy of a window, with the building's overhead, and its source. */
export type Measured = {
  readonly readingNj: Nj
  readonly method: EnergyMethod
  /** Of energy of any height; `errorNj` is added to it. */
  readonly bandPct: number
  /** Error that does not depend on the height; absent: none. */
  readonly errorNj?: Nj
  /** The idle part of it, before the overhead, and the source of that figure. */
  readonly idle: { readonly milliwatts: bigint; readonly from: IdleFrom }
  /** Why better sensors were passed over, each as `name: reason`; absent when the best answered. */
  readonly fallback?: string
}

/** The band of an energy, in whole percent: `errorNj` is the part of its error that does not depend on its height. */
export function sensorBand(energy: Nj, bandPct: number, errorNj: Nj | undefined): number {
  if (errorNj === undefined) return bandPct
  if (energy <= 0n) return 100
  return Math.min(100, bandPct + Number((errorNj * 100n + energy - 1n) / energy))
}

type Measurer = Pick<MeterSource, 'method' | 'bandPct' | 'idleMilliwatts' | 'errorMilliwatts'>

/** Sensors are asked at most this long: a window must close within its second. */
const READ_MS_MAX = 800

export interface Sensors {
  /** Asks every sensor at once; the energy follows when the span that ends now is known. */
  read(signal?: AbortSignal): Promise<(span: BusySpan) => Measured>
  close(): Promise<void>
}

export function createSensors(deps: {
  readonly sources: readonly MeterSource[]
  readonly model: CpuModel
  readonly pueMilli: bigint
}): Sensors {
  const { model, pueMilli } = deps
  const gauges = deps.sources.map(createGauge)
  const idleOf = ({ idleMilliwatts }: Pick<MeterSource, 'idleMilliwatts'>): Measured['idle'] =>
    idleMilliwatts === undefined
      ? { milliwatts: model.idleMilliwatts, from: model.linear ? 'model' : 'calibration' }
      : { milliwatts: idleMilliwatts, from: 'setting' }
  const measuredBy = (by: Measurer, energyNj: Nj, { elapsedNs }: BusySpan): Measured => ({
    readingNj: withPue(energyNj, pueMilli),
    method: by.method,
    bandPct: by.bandPct,
    ...(by.errorMilliwatts === undefined
      ? {}
      : { errorNj: withPue(energyOfPower(by.errorMilliwatts, elapsedNs), pueMilli) }),
    idle: idleOf(by),
  })
  const read = async (signal?: AbortSignal) => {
    const limit = AbortSignal.timeout(READ_MS_MAX)
    const within = signal === undefined ? limit : AbortSignal.any([signal, limit])
    // Every sensor is asked in every window, also behind a better one: a counter needs a reading just
    // before the window in which it is first believed.
    const readings = await Promise.all(gauges.map((gauge) => gauge.source.read(within)))
    return (span: BusySpan): Measured => {
      const doubts: string[] = []
      let measured: Measured | undefined
      for (const [index, gauge] of gauges.entries()) {
        const gauged = gauge.energyOf(readings[index] ?? unavailable('not read'), span)
        if (measured !== undefined) continue
        if (gauged.kind === 'unavailable') doubts.push(`${gauge.source.name}: ${gauged.reason}`)
        else measured = measuredBy(gauge.source, gauged.energyNj, span)
      }
      measured ??= measuredBy({ method: 'model', bandPct: model.bandPct }, model.energy(span), span)
      return doubts.length === 0 ? measured : { ...measured, fallback: doubts.join('; ') }
    }
  }
  const close = async () => {
    await Promise.all(gauges.map((gauge) => gauge.source.close()))
  }
  return { read, close }
}
