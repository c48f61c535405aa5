// The meter of a node. Once a second it reads the sensors and takes the first plausible one, else the model.
// It splits the reading by CPU time to the last nanojoule, and updates the tariff.
import type { Clock } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import { add, nj, withPue } from '#base/units.ts'
import type { EnergyBand } from '#contract/ledger/charge.ts'
import { createIntervals, type CellReading } from './interval.ts'
import { energyOfPower } from './power.ts'
import type { CpuModel } from './sources/model.ts'
import { sensorBand, createSensors, type IdleFrom } from './sources/sensors.ts'
import type { MeterSource } from './sources/source.ts'
import { statusOf, type MeterStatus, type MeterTotals } from './status.ts'
import { createTariff } from './tariff.ts'
import { createTrueUp, type Billed } from './true-up.ts'
import { splitReading, type MeterWindow } from './window.ts'

export type NodeMeterDeps = {
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
  /** Totals of the energy that is billed by tariff, for the true-up. */
  readonly billed: () => Billed
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
  status(): MeterStatus
  close(): Promise<void>
}

export function createNodeMeter(deps: NodeMeterDeps): NodeMeter {
  const { meter, model, pueMilli } = deps
  const sensors = createSensors(deps)
  const tariff = createTariff(tariffDepsOf(model, pueMilli))
  const trueUp = createTrueUp(deps.billed)
  const nextInterval = createIntervals({ ...deps, cpus: model.cpus })
  let last: MeterWindow | undefined
  let totals: MeterTotals = { windows: 0, fallbacks: 0, readingNj: nj(0n) }
  let closing = false
  let idleFrom: IdleFrom = 'model'

  const window = async (signal?: AbortSignal): Promise<MeterWindow> => {
    const measure = await sensors.read(signal)
    const interval = nextInterval()
    const { elapsedNs } = interval
    const { idle, errorNj, bandPct, ...reading } = measure(interval)
    const measured = { ...reading, bandPct: sensorBand(reading.readingNj, bandPct, errorNj) }
    idleFrom = idle.from
    const idleDrawNj = withPue(energyOfPower(idle.milliwatts, elapsedNs), pueMilli)
    const split = splitReading({ ...interval, ...measured, idleDrawNj })
    const { trueUpNj, ...billed } = trueUp.close(split)
    tariff.observe({
      ...interval,
      ...split,
      method: measured.method,
      // Requests pay by the dynamic part alone: the whole error is an error of that part.
      bandPct: sensorBand(split.dynamicNj, bandPct, errorNj),
      ...billed,
      trueUpNj,
      proportional: measured.method === 'model' && model.linear,
    })
    const { dynamicNj: _, ...parts } = split
    return {
      meter,
      k: nextSecond(last, deps.clock),
      elapsedNs,
      pueMilli,
      ...measured,
      ...parts,
      ...billed,
      tariffNjPerCpuS: tariff.njPerCpuS,
    }
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
      return tariff.njPerCpuS
    },
    get tariffKnown() {
      return tariff.known
    },
    status: () =>
      statusOf({ meter, last, idleFrom, model, pueMilli, tariff, trueUp: trueUp.totals, totals }),
    close: sensors.close,
  }
}

function tariffDepsOf(
  { njPerCpuS, njPerCpuSRange, bandPct }: CpuModel,
  pueMilli: bigint,
): Parameters<typeof createTariff>[0] {
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
