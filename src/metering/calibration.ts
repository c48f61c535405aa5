// The calibration file: what `ergon meter calibrate` measured on this very machine. Four points bring
// the model's error from 23 % (idle and maximum only) to 6 % on published traces.
import { fault } from '#contract/errors.ts'
import { valueAt } from './json-reader.ts'
import type { CpuInfo } from './sources/cpu-info.ts'
import { createCpuModel, type CpuModel, type CurvePoint } from './sources/model.ts'

export type Calibration = {
  readonly cpu: CpuInfo
  /** Name of the reference meter. */
  readonly reference: string
  /** RFC 3339. */
  readonly measuredAt: string
  /** Power of the whole machine, from 0 to 1000 ‰. */
  readonly curve: readonly CurvePoint[]
  /** The reference's own band, and the error of the curve at loads that it was not fitted to. */
  readonly bandPct: number
}

/** Text of the file. */
export function calibrationText(calibration: Calibration): string {
  const { cpu, reference, measuredAt, curve, bandPct } = calibration
  const points = curve.map((point) => [point.permille, Number(point.milliwatts)])
  const file = { v: 1, cpu, reference, measured_at: measuredAt, points, band_pct: bandPct }
  return `${JSON.stringify(file, null, 2)}\n`
}

/**
 * Reads a calibration file for the processor of now. Throws ErgonError `calibration_invalid` for a
 * damaged file and for one of another processor or another number of them.
 */
export function parseCalibration(text: string, cpu: CpuInfo): Calibration {
  const file = jsonOf(text)
  if (valueAt(file, ['v']) !== 1) throw invalid('its version is not 1')
  for (const key of ['vendor', 'family', 'model', 'stepping', 'name', 'cpus'] as const)
    if (valueAt(file, ['cpu', key]) !== cpu[key])
      throw invalid(`it was measured on another processor (${key} differs)`)
  const reference = valueAt(file, ['reference'])
  const measuredAt = valueAt(file, ['measured_at'])
  const bandPct = valueAt(file, ['band_pct'])
  if (typeof reference !== 'string' || typeof measuredAt !== 'string')
    throw invalid('reference or measured_at')
  if (!isWhole(bandPct) || bandPct < 1) throw invalid('band_pct')
  const calibration = { cpu, reference, measuredAt, curve: curveOf(file), bandPct }
  return calibration
}

/** The model of a calibrated machine. */
export const modelOfCalibration = (calibration: Calibration): CpuModel =>
  createCpuModel({
    basis: `calibrated by ${calibration.reference} at ${calibration.measuredAt}`,
    cpus: calibration.cpu.cpus,
    curve: calibration.curve,
    bandPct: calibration.bandPct,
  })

function curveOf(file: unknown): CurvePoint[] {
  const points = valueAt(file, ['points'])
  if (!Array.isArray(points) || points.length < 2 || points.length > 100) throw invalid('points')
  const curve = points.map((point: unknown) => {
    const permille = valueAt(point, [0])
    const milliwatts = valueAt(point, [1])
    if (!isWhole(permille) || !isWhole(milliwatts)) throw invalid('a point is no pair of integers')
    return { permille, milliwatts: BigInt(milliwatts) }
  })
  const rises = curve.every((point, index) => {
    const before = curve[index - 1]
    return (
      before === undefined ||
      (before.permille < point.permille && before.milliwatts <= point.milliwatts)
    )
  })
  if (!rises || curve[0]?.permille !== 0 || curve.at(-1)?.permille !== 1000)
    throw invalid('the points do not rise from 0 to 1000 ‰')
  return curve
}

const isWhole = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid('not JSON', cause)
  }
}

const invalid = (detail: string, cause?: unknown) =>
  fault('calibration_invalid', `Could not use the calibration: ${detail}`, { cause })
