// Reads fields of a data service's answer; whatever does not fit is a failed upstream.
import { fault } from '#contract/errors.ts'
import { valueAt } from '#metering/json-reader.ts'

type Path = readonly (string | number)[]

/** Time limit of a data service: nothing waits for it. */
export const ADAPTER_TIMEOUT_MS = 10_000
// The dirtiest grids stand near 1,100 g/kWh: twice that is an error of units.
const GRAMS_MAX = 2200

export const unfit = (service: string, detail: string) =>
  fault('upstream_failed', `Could not use the answer of ${service}: ${detail}`)

/** Grams per kWh at a path as mg per kWh. */
export function gramsAt(service: string, answer: unknown, path: Path): bigint {
  const grams = valueAt(answer, path)
  if (typeof grams !== 'number' || !(grams > 0 && grams <= GRAMS_MAX))
    throw unfit(service, `${path.join('.')} is ${String(grams)}`)
  return BigInt(Math.round(grams * 1000))
}

/** The instant at a path, in ms. */
export function timeAt(service: string, answer: unknown, path: Path): number {
  const text = valueAt(answer, path)
  const ms = typeof text === 'string' ? Date.parse(text) : Number.NaN
  if (!Number.isFinite(ms)) throw unfit(service, `${path.join('.')} is no time: ${String(text)}`)
  return ms
}
