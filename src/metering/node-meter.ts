// The meter of a node. Once a second it reads the sensors and takes the first plausible one, else the model.
// It splits the reading by CPU time to the last nanojoule, and updates the tariff.
import type { Clock } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import { add, nj, withPue } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import { createModelPricing } from './gpu/model-pricing.ts'
import { createIntervals, type CellReading, type Interval } from './interval.ts'
import { energyOfPower } from './power.ts'
import { createPricing, type Pricing } from './pricing.ts'
import type { CpuModel } from './sources/model.ts'
import { sensorBand, createSensors, type IdleFrom, type Measured } from './sources/sensors.ts'
import type { MeterSource } from './sources/source.ts'
import { statusOf, type MeterStatus, type MeterTotals } from './status.ts'
import type { TariffDeps } from './tariff.ts'
import type { Billed, BilledByCell } from './true-up.ts'
import { splitReading, type MeterWindow } from './window.ts'

export type NodeMeterDeps = MachineDeps &
  (
    | {
        /** Totals of the energy that is billed by one tariff, for the true-up. */
        readonly billed: () => Billed
      }
    | {
        /** The same of each cell: cells have tariffs of their own. */
        readonly billedByCell: () => BilledByCell
      }
  )

type MachineDeps = {
  /** The meter's name in windows and on receipts. */
  readonly meter: string
  /** Stands in whenever no sensor can be believed. */
  readonly model: CpuModel
  /** Sensors of the whole machine, the best first. */
  readonly sources: readonly MeterSource[]
  /** Cumulative busy time of the machine. */
  readonly busyNs: () => bigint
  /** Every metered cell of now. Keep a stopped cell in the list until one more window has closed. */
  readonly cells: () => readonly CellReading[]
  /** Overhead of the building in thousandths; 1000 = none. */
  readonly pueMilli: bigint
  readonly clock: Clock
}

export interface NodeMeter {
  /** Closes the window that began at the close before (the first: at creation); one at a time. */
  closeWindow(signal?: AbortSignal): Promise<MeterWindow>
  /** nJ per CPU-second that requests are billed at now. */
  readonly tariffNjPerCpuS: bigint
  /** Method of that figure; may differ from the last window's. */
  readonly tariffKnown: EnergyBand
  /** The tariffs of cells that have one of their own, and that of the others. */
  readonly tariffs: Pick<Pricing, 'cells' | 'others'>
  status(): MeterStatus
  close(): Promise<void>
}

export function createNodeMeter(deps: NodeMeterDeps): NodeMeter {
  const { meter, model, pueMilli } = deps
  const sensors = createSensors(deps)
  const pricing = pricingOf(deps)
  const nextInterval = createIntervals({ ...deps, cpus: model.cpus })
  let last: MeterWindow | undefined
  let totals: MeterTotals = { windows: 0, fallbacks: 0, readingNj: nj(0n) }
  let closing = false
  let idleFrom: IdleFrom = 'model'

  const window = async (signal?: AbortSignal): Promise<MeterWindow> => {
    const measure = await sensors.read(signal)
    const interval = nextInterval()
    const measured = measure(interval)
    idleFrom = measured.idle.from
    const k = nextSecond(last, deps.clock)
    return { meter, k, pueMilli, ...priced(pricing, { ...deps, interval, measured }) }
  }
  return {
    async closeWindow(signal) {
      invariant(!closing, 'windows of a meter close one at a time')
      closing = true
      try {
        last = await window(signal)
      } finally {
        closing = false
      }
      totals = {
        windows: totals.windows + 1,
        fallbacks: totals.fallbacks + (last.fallback === undefined ? 0 : 1),
        readingNj: add(totals.readingNj, last.readingNj),
      }
      return last
    },
    get tariffNjPerCpuS() {
      return pricing.njPerCpuS
    },
    get tariffKnown() {
      return pricing.known
    },
    tariffs: pricing,
    status: () => statusOf({ meter, last, idleFrom, model, pueMilli, pricing, totals }),
    close: sensors.close,
  }
}

/** The reading of an interval: split, and closed for the tariff. */
function priced(
  pricing: Pricing,
  about: Pick<MachineDeps, 'model' | 'pueMilli'> & {
    readonly interval: Interval
    readonly measured: Measured
  },
): Omit<MeterWindow, 'meter' | 'k' | 'pueMilli'> {
  const { model, pueMilli, interval } = about
  const { idle, errorNj, bandPct, ...reading } = about.measured
  const { elapsedNs } = interval
  const { weigh } = pricing
  const measured = { ...reading, bandPct: sensorBand(reading.readingNj, bandPct, errorNj) }
  const unsplit = {
    ...interval,
    errorNj: errorNj ?? 0n,
    proportional: measured.method === 'model' && model.linear,
  }
  const split = splitReading({
    ...interval,
    ...measured,
    idleDrawNj: withPue(energyOfPower(idle.milliwatts, elapsedNs), pueMilli),
    weigh: weigh === undefined ? undefined : (ofCells) => weigh(unsplit, ofCells),
  })
  const { chargedNs, accruedNj } = pricing.close({
    ...unsplit,
    ...split,
    method: measured.method,
    // Requests pay by the dynamic part alone: the whole error is an error of that part.
    bandPct: sensorBand(split.dynamicNj, bandPct, errorNj),
  })
  const { dynamicNj: _, ...parts } = split
  const { njPerCpuS: tariffNjPerCpuS } = pricing
  return { elapsedNs, ...measured, ...parts, chargedNs, accruedNj, tariffNjPerCpuS }
}

function pricingOf(deps: NodeMeterDeps): Pricing {
  const tariffDeps = tariffDepsOf(deps.model, deps.pueMilli)
  return 'billedByCell' in deps
    ? createModelPricing({ ...deps, ...tariffDeps })
    : createPricing({ ...deps, ...tariffDeps })
}

function tariffDepsOf(
  { njPerCpuS, njPerCpuSRange, bandPct }: CpuModel,
  pueMilli: bigint,
): TariffDeps {
  const rate = (figure: bigint) => withPue(nj(figure), pueMilli)
  const deps = { modelNjPerCpuS: rate(njPerCpuS), modelBandPct: bandPct }
  if (njPerCpuSRange === undefined) return deps
  const [least, most] = njPerCpuSRange
  return { ...deps, range: [rate(least), rate(most)] }
}

/** The second of now, or the one after the last window's: timers jitter and wall clocks step back. */
function nextSecond(last: MeterWindow | undefined, clock: Clock): number {
  const now = Math.round(clock.wallMs() / 1000)
  return last === undefined ? now : Math.max(now, last.k + 1)
}
