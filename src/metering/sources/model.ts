// The model: what a machine without a sensor draws, from how busy its processors are. A curve of
// (utilisation, power) points, straight between them: two points from published coefficients, four
// when the machine was calibrated against a meter.
import { invariant, present } from '#base/errors.ts'
import { nj, type Nj } from '#base/units.ts'
import { NJ_PER_MILLIWATT_S } from '#metering/power.ts'
import { coefficientsOf } from './cpu-coefficients.ts'
import type { CpuInfo } from './cpu-info.ts'

/** Power of the whole machine at a utilisation of all its processors, in thousandths. */
export type CurvePoint = { readonly permille: number; readonly milliwatts: bigint }

/** Time and processor time of a window, in nanoseconds. */
export type BusySpan = { readonly elapsedNs: bigint; readonly busyNs: bigint }

export interface CpuModel {
  /** Where the curve comes from, for `ergon meter`: EPYC 3 (Milan), or calibrated. */
  readonly basis: string
  readonly bandPct: number
  readonly cpus: number
  readonly idleMilliwatts: bigint
  readonly maxMilliwatts: bigint
  /** Cost of one more CPU-second between idle and full load: the tariff at boot. */
  readonly njPerCpuS: bigint
  /** The least and the most that a tariff may become (default: a fifth and five times of the above). */
  readonly njPerCpuSRange?: readonly [least: bigint, most: bigint]
  /** It costs that at every load: the curve has no point between its ends. */
  readonly linear: boolean
  /** Energy of a span; busy time above that of all processors counts as full load. */
  energy(span: BusySpan): Nj
}

const UNCALIBRATED_BAND_PCT = 40

/** The model from published coefficients of the processor. */
export function modelOfCpu(cpu: CpuInfo): CpuModel {
  const { microarchitecture, idleMilliwatts, maxMilliwatts } = coefficientsOf(cpu)
  const cpus = BigInt(cpu.cpus)
  const curve = [
    { permille: 0, milliwatts: idleMilliwatts * cpus },
    { permille: 1000, milliwatts: maxMilliwatts * cpus },
  ]
  return createCpuModel({
    basis: microarchitecture,
    cpus: cpu.cpus,
    curve,
    bandPct: UNCALIBRATED_BAND_PCT,
  })
}

/** A model of a curve whose points rise from 0 ‰ to 1000 ‰. */
export function createCpuModel(options: {
  readonly basis: string
  readonly cpus: number
  readonly curve: readonly CurvePoint[]
  readonly bandPct: number
}): CpuModel {
  const { curve, cpus } = options
  const first = present(curve[0], 'a model needs points')
  const last = present(curve.at(-1), 'a model needs points')
  invariant(first.permille === 0 && last.permille === 1000, 'a curve spans 0 to 1000 ‰')
  for (const [index, point] of curve.entries()) {
    const before = curve[index - 1]
    invariant(
      before === undefined ||
        (before.permille < point.permille && before.milliwatts <= point.milliwatts),
      'a curve rises',
    )
  }
  return {
    basis: options.basis,
    bandPct: options.bandPct,
    cpus,
    idleMilliwatts: first.milliwatts,
    maxMilliwatts: last.milliwatts,
    linear: curve.length === 2,
    njPerCpuS: ((last.milliwatts - first.milliwatts) * NJ_PER_MILLIWATT_S) / BigInt(cpus),
    energy: (span) => energyOnCurve(curve, BigInt(cpus), span),
  }
}

function energyOnCurve(curve: readonly CurvePoint[], cpus: bigint, span: BusySpan): Nj {
  const capacityNs = span.elapsedNs * cpus
  if (capacityNs <= 0n) return nj(0n)
  const busyNs = span.busyNs < 0n ? 0n : span.busyNs > capacityNs ? capacityNs : span.busyNs
  const after = curve.findIndex(
    (point) => point.permille > 0 && BigInt(point.permille) * capacityNs >= busyNs * 1000n,
  )
  const high = present(curve[after], 'full load is on the curve')
  const low = present(curve[after - 1], 'a segment has two ends')
  // One division, at the end: power(u) · t, with u = busy ÷ capacity kept as a fraction.
  const width = BigInt(high.permille - low.permille)
  const along = busyNs * 1000n - BigInt(low.permille) * capacityNs
  const base = low.milliwatts * span.elapsedNs * width * cpus
  return nj((base + (high.milliwatts - low.milliwatts) * along) / (width * cpus * 1000n))
}
