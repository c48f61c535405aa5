// The part of some work of an operation, by learned rates, with the deviation of the part as a whole: rates that only occur
// together are each unknown, and their sum is known.
import type { IndirectRates } from '#contract/ledger/indirect-rates.ts'

/** The regressor of an operation's further units: a batch is one request and many keys. Each has a rate of its own. */
export const unitOf = (operation: string) => `${operation} unit`
export const isUnit = (name: string): boolean => name.endsWith(' unit')

/** Requests that no account pays for. They are learned, and no bill is compared with them. */
export const UNATTRIBUTED = 'service.nobody'

/** Work of one operation: of one request, or of all in a window. */
export type CausingSize = {
  readonly requests: number
  /** Units beyond the requests. */
  readonly units: number
  readonly ownNs: number
  /** Its share of active seconds, by their rate. */
  readonly shareNs: number
}

/** Nanoseconds of CPU. */
export type LearnedPart = {
  readonly value: number
  readonly deviation: number
  /**
   * The part that is billed, before the level: below the value, and nothing where the deviation is above the value. Rates of a cold program were three times the truth, and their deviation said so.
   */
  readonly least: number
}

const NS_PER_MS = 1e6
const DEVIATIONS_BELOW = 0.5
const NOTHING: LearnedPart = { value: 0, deviation: 0, least: 0 }

/** Nothing of an operation that nobody has seen. */
export function learnedPartOf(
  { operations, activeSecond }: IndirectRates,
  operation: string,
  { requests, units, ownNs, shareNs }: CausingSize,
): LearnedPart {
  const rate = operations[operation]
  if (rate === undefined) return NOTHING
  const { own, covariances } = rate
  const unit = operations[unitOf(operation)] ?? NOTHING
  const ownMs = ownNs / NS_PER_MS
  const seconds = activeSecond.value === 0 ? 0 : shareNs / activeSecond.value
  const variance =
    (requests * rate.deviation) ** 2 +
    (units * unit.deviation) ** 2 +
    (ownMs * own.deviation) ** 2 +
    (seconds * activeSecond.deviation) ** 2 +
    2 * requests * ownMs * covariances.requestOwn +
    2 * requests * seconds * covariances.requestActive +
    2 * ownMs * seconds * covariances.ownActive +
    2 * requests * units * covariances.requestUnit +
    2 * ownMs * units * covariances.ownUnit +
    2 * units * seconds * covariances.unitActive
  const value = requests * rate.value + units * unit.value + ownMs * own.value + shareNs
  const deviation = Math.sqrt(Math.max(0, variance))
  const least = deviation <= value ? value - DEVIATIONS_BELOW * deviation : 0
  return { value, deviation, least }
}
