// Calibration: loads the machine in steps, reads a reference meter, and fits the curve of the model.
// The band is measured on two loads that the curve was not fitted to: at its own points a curve is
// always right.
import { timestamp, type Clock } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'
import { modelOfCalibration, type Calibration } from './calibration.ts'
import { createIntervals, type Interval } from './interval.ts'
import { NS_PER_S, powerOf } from './power.ts'
import type { CpuInfo } from './sources/cpu-info.ts'
import { createGauge, type Gauge } from './sources/gauge.ts'
import type { CurvePoint } from './sources/model.ts'
import type { MeterSource } from './sources/source.ts'

const FIT_PERMILLE = [0, 250, 500, 1000]
const CHECK_PERMILLE = [100, 750]
/** Fan, clock and voltage follow a change of load within seconds. */
const SETTLE_MS = 5000
const SAMPLE_MS = 1000
const SAMPLES = 20
// Steps closer than this mean that other work ran: the load that was asked for was not the load.
const STEP_PERMILLE_MIN = 50

export type CalibrateDeps = {
  readonly cpu: CpuInfo
  /** The meter that is believed. */
  readonly reference: MeterSource
  readonly busyNs: () => bigint
  /** Keeps this many thousandths of all processors busy until stopped. */
  readonly load: (permille: number, signal: AbortSignal) => Promise<{ stop(): Promise<void> }>
  readonly clock: Clock
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly progress?: (step: CalibrationStep) => void
  readonly settleMs?: number
  readonly samples?: number
  readonly sampleMs?: number
}

/** The measurement of one step. */
export type CalibrationStep = {
  readonly askedPermille: number
  readonly permille: number
  readonly milliwatts: bigint
}

type Sample = { readonly permille: number; readonly milliwatts: bigint }

/**
 * Runs all steps (two and a half minutes by default). Throws upstream_failed when the reference falls
 * silent or does not follow the load, and the signal's reason when aborted; the load is always stopped.
 */
export async function calibrate(deps: CalibrateDeps, signal: AbortSignal): Promise<Calibration> {
  const gauge = createGauge(deps.reference)
  const nextInterval = createIntervals({ ...deps, cpus: deps.cpu.cpus, cells: () => [] })
  const measureStep = async (askedPermille: number) => {
    const samples = await underLoad(deps, askedPermille, signal, () =>
      sampled(deps, gauge, nextInterval, signal),
    )
    deps.progress?.({ askedPermille, ...meanOf(samples) })
    return samples
  }
  const fitted: Sample[] = []
  for (const permille of FIT_PERMILLE) fitted.push(meanOf(await measureStep(permille)))
  const draft: Calibration = {
    cpu: deps.cpu,
    reference: deps.reference.name,
    measuredAt: timestamp(deps.clock.wallMs()),
    curve: curveThrough(fitted),
    bandPct: deps.reference.bandPct,
  }
  const unseen: Sample[] = []
  for (const permille of CHECK_PERMILLE) unseen.push(...(await measureStep(permille)))
  return { ...draft, bandPct: deps.reference.bandPct + residualPct(draft, unseen) }
}

async function underLoad<T>(
  deps: CalibrateDeps,
  permille: number,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const load = await deps.load(permille, signal)
  try {
    await deps.sleep(deps.settleMs ?? SETTLE_MS, signal)
    return await work()
  } finally {
    await load.stop()
  }
}

async function sampled(
  deps: CalibrateDeps,
  gauge: Gauge,
  nextInterval: () => Interval,
  signal: AbortSignal,
): Promise<Sample[]> {
  const samples: Sample[] = []
  // The first reading only starts the interval: it spans the settling.
  gauge.energyOf(await deps.reference.read(signal), nextInterval())
  while (samples.length < (deps.samples ?? SAMPLES)) {
    await deps.sleep(deps.sampleMs ?? SAMPLE_MS, signal)
    const reading = await deps.reference.read(signal)
    const interval = nextInterval()
    const gauged = gauge.energyOf(reading, interval)
    if (gauged.kind === 'unavailable')
      throw fault(
        'upstream_failed',
        `Could not calibrate: ${deps.reference.name}: ${gauged.reason}`,
      )
    samples.push({
      permille: Number((interval.busyNs * 1000n) / interval.capacityNs),
      milliwatts: powerOf(gauged.energyNj, interval.elapsedNs),
    })
  }
  return samples
}

function meanOf(samples: readonly Sample[]): Sample {
  const milliwatts = samples.reduce((total, sample) => total + sample.milliwatts, 0n)
  const permille = samples.reduce((total, sample) => total + sample.permille, 0)
  return {
    permille: Math.round(permille / samples.length),
    milliwatts: milliwatts / BigInt(samples.length),
  }
}

/** The points, with the outer segments drawn on to 0 and 1000 ‰: no machine is ever quite idle. */
function curveThrough(points: readonly Sample[]): CurvePoint[] {
  const [first, second] = points
  const [last, secondLast] = points.toReversed()
  if (!first || !second || !last || !secondLast) throw new RangeError('A curve needs two points')
  for (const [index, point] of points.entries()) {
    const before = points[index - 1]
    if (before !== undefined && point.permille - before.permille < STEP_PERMILLE_MIN)
      throw unfit(`asked for more load, ${before.permille} ‰ became ${point.permille} ‰`)
  }
  if (last.milliwatts <= first.milliwatts)
    throw unfit(`${first.milliwatts} mW idle and ${last.milliwatts} mW at full load`)
  const ends = [
    { permille: 0, milliwatts: onLine(first, second, 0) },
    ...points.filter((point) => point.permille > 0 && point.permille < 1000),
    { permille: 1000, milliwatts: onLine(secondLast, last, 1000) },
  ]
  // Noise may make a step dip under the one before it; the model's curve never falls.
  let highest = 0n
  return ends.map(({ permille, milliwatts }) => {
    if (milliwatts > highest) highest = milliwatts
    return { permille, milliwatts: highest }
  })
}

function onLine(a: Sample, b: Sample, permille: number): bigint {
  const rise = (b.milliwatts - a.milliwatts) * BigInt(permille - a.permille)
  return a.milliwatts + rise / BigInt(b.permille - a.permille)
}

/** The error that 95 of 100 samples stay within, in whole percent, at least 1. */
function residualPct(draft: Calibration, samples: readonly Sample[]): number {
  const model = modelOfCalibration(draft)
  const capacityNs = BigInt(draft.cpu.cpus) * NS_PER_S
  const errors = samples
    .map(({ permille, milliwatts }) => {
      const busyNs = (capacityNs * BigInt(permille)) / 1000n
      const modelled = powerOf(model.energy({ elapsedNs: NS_PER_S, busyNs }), NS_PER_S)
      return Math.abs(Number(modelled - milliwatts)) / Number(milliwatts)
    })
    .toSorted((a, b) => a - b)
  const within95 = errors[Math.ceil(errors.length * 0.95) - 1] ?? 0
  return Math.max(1, Math.ceil(within95 * 100))
}

const unfit = (detail: string) =>
  fault('upstream_failed', `Could not calibrate, the reference does not follow the load: ${detail}`)
