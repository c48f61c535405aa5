// A linear regression that follows slow changes: cost ≈ Σ rate × count, one rate for each named regressor.
// It is a Kalman filter with a random walk of the rates (Welch and Bishop, "An Introduction to the Kalman
// Filter") and two restrictions. No rate is negative. An outlier moves the rates no further than an observation
// at the limit would (Huber).
import { present as found } from '#base/errors.ts'

/** A rate and its standard deviation. */
export type Rate = { readonly value: number; readonly deviation: number }

export interface Regression {
  /** Learns from one observation: the count of each regressor, and the cost of all of them together. */
  learn(counts: ReadonlyMap<string, number>, cost: number): void
  /** The estimate of a regressor; undefined when none was counted yet. */
  rate(name: string): Rate | undefined
  /** Covariance of the estimates of two regressors; 0 of one that was not counted. */
  covariance(a: string, b: string): number
  /** All regressors that were counted. */
  readonly names: Iterable<string>
}

export type RegressionOptions = {
  /** Rates known before: of an earlier life. */
  readonly known?: Readonly<Record<string, Rate>>
  /** Covariances of two known rates each. */
  readonly knownTogether?: readonly (readonly [a: string, b: string, covariance: number])[]
  /** Deviation of a rate before anything is known of it. */
  readonly deviationFirst: number
  /** Random walk of a rate between two observations: a part of the rate, or of `leastOf` its name where the rate is below that. */
  readonly walk: {
    readonly relativeOf: (name: string) => number
    readonly leastOf: (name: string) => number
  }
  /** Standard deviation of a cost from its prediction: a part of the cost, and a least. */
  readonly noise: { readonly relative: number; readonly least: number }
  /** The greatest number of regressors: others than the first ones are left out. */
  readonly namesMax: number
}

/** Standard deviations at which a further observation is cut off. */
const DEVIATIONS_MAX = 3
/** One rate at a time becomes 0, and others may become negative by that. */
const POSITIVE_STEPS = 10
/** The part that covariances keep is found to a thousandth. */
const SHRINK_STEPS = 10
/** The least pivot, as a part of the variance of a rate: below this, rounding decides. */
const PIVOT_MIN = 1e-9

export function createRegression(options: RegressionOptions): Regression {
  const { deviationFirst, walk, noise } = options
  // A rate of nothing would stay nothing.
  const walkOf = (name: string, rate: number) =>
    walk.relativeOf(name) * Math.max(rate, walk.leastOf(name))
  const { places, rates, covariance, placeOf } = createEstimates(options)

  return {
    learn(counts, cost) {
      const seen: [place: number, count: number][] = []
      const knownBefore = rates.length
      for (const [name, count] of counts) {
        const place = count > 0 ? placeOf(name) : undefined
        if (place === undefined) continue
        seen.push([place, count])
        const row = present(covariance[place])
        const known = present(row[place])
        const walked = known + walkOf(name, present(rates[place])) ** 2
        // Never less than it was: its covariances stay.
        row[place] = Math.max(known, Math.min(deviationFirst ** 2, walked))
      }
      if (seen.length === 0) return
      const expected = seen.reduce((sum, [place, count]) => sum + present(rates[place]) * count, 0)
      // All of a new regressor together cost no more than what nothing else explains.
      const unexplained =
        Math.max(0, cost - expected) +
        DEVIATIONS_MAX * Math.hypot(noise.relative * cost, noise.least)
      for (const [place, count] of seen)
        if (place >= knownBefore) {
          const row = present(covariance[place])
          row[place] = Math.min(present(row[place]), unexplained ** 2 / (12 * count ** 2))
        }
      // Covariance of each rate with the cost, and variance of the cost.
      const shared = covariance.map((row) =>
        seen.reduce((sum, [place, count]) => sum + present(row[place]) * count, 0),
      )
      const size = Math.max(expected, Math.min(cost, expected * 2))
      const noiseVariance = (noise.relative * size) ** 2 + noise.least ** 2
      const variance =
        seen.reduce((sum, [place, count]) => sum + present(shared[place]) * count, 0) +
        noiseVariance
      // Rounding can leave a sum with a variance below zero: nothing can be learned from that.
      if (!(variance >= noiseVariance && Number.isFinite(variance + cost))) return
      const limit = DEVIATIONS_MAX * Math.sqrt(variance)
      const surprise = Math.max(-limit, Math.min(limit, cost - expected))
      for (const [place, row] of covariance.entries()) {
        const gain = present(shared[place]) / variance
        rates[place] = present(rates[place]) + gain * surprise
        // All pairs of names: an iterator here took most of a learner's CPU at 400 names.
        for (let other = 0; other < row.length; other++)
          row[other] = present(row[other]) - gain * present(shared[other])
        row[place] = Math.max(present(row[place]), Number.MIN_VALUE)
      }
      makePositive(rates, covariance)
    },
    rate(name) {
      const place = places.get(name)
      if (place === undefined) return undefined
      const variance = present(covariance[place]?.[place])
      return { value: present(rates[place]), deviation: Math.sqrt(variance) }
    },
    covariance: (a, b) => covariance[places.get(a) ?? -1]?.[places.get(b) ?? -1] ?? 0,
    get names() {
      return places.keys()
    },
  }
}

/**
 * Moves negative rates to 0, and the others with them, by their covariance: the most probable rates of which that one is 0
 * (Simon and Chia, "Kalman Filtering with State Equality Constraints"). Without the others the sum that was just
 * observed would be far off: of two operations that come together one rate went to 0, and both were predicted four times their CPU.
 */
function makePositive(rates: number[], covariance: readonly (readonly number[])[]): void {
  for (let step = 0; step < POSITIVE_STEPS; step++) {
    const least = rates.reduce((low, rate, place) => (rate < present(rates[low]) ? place : low), 0)
    const below = present(rates[least])
    if (below >= 0) return
    const row = present(covariance[least])
    const variance = present(row[least])
    for (const place of rates.keys())
      rates[place] = present(rates[place]) - (present(row[place]) / variance) * below
    rates[least] = 0
  }
  for (const [place, rate] of rates.entries()) rates[place] = Math.max(0, rate)
}

/** The estimates, by the place of each regressor: rates, and their covariance, symmetric. */
function createEstimates(options: RegressionOptions) {
  const { known = {}, knownTogether = [], deviationFirst, namesMax } = options
  const places = new Map<string, number>()
  const rates: number[] = []
  const covariance: number[][] = []
  /** Gives a new regressor a place; undefined where there are too many. */
  const placeOf = (name: string): number | undefined => {
    const place = places.get(name)
    if (place !== undefined || places.size >= namesMax) return place
    const { value, deviation } = known[name] ?? { value: 0, deviation: deviationFirst }
    for (const row of covariance) row.push(0)
    rates.push(value)
    covariance.push(rates.map(() => 0))
    const made = places.size
    present(covariance[made])[made] = deviation ** 2
    places.set(name, made)
    return made
  }
  for (const name of Object.keys(known)) placeOf(name)
  for (const [a, b, value] of knownTogether) {
    const first = places.get(a)
    const second = places.get(b)
    if (first === undefined || second === undefined) continue
    // A rate that is known exactly has no common errors.
    const most = Math.sqrt(
      present(covariance[first]?.[first]) * present(covariance[second]?.[second]),
    )
    const shared = Math.max(-most, Math.min(most, value))
    present(covariance[first])[second] = shared
    present(covariance[second])[first] = shared
  }
  makeDefinite(covariance)
  return { places, rates, covariance, placeOf }
}

/**
 * Makes covariances smaller until all of them can be true together. Those of rates that were kept leave out the pairs of
 * different operations. Two operations with a correlation of -0.9 to one third rate are enough for a sum whose variance is
 * below zero.
 */
function makeDefinite(covariance: number[][]): void {
  if (isDefinite(covariance, 1)) return
  let [part, above] = [0, 1]
  for (let step = 0; step < SHRINK_STEPS; step++) {
    const middle = (part + above) / 2
    if (isDefinite(covariance, middle)) part = middle
    else above = middle
  }
  for (const [place, row] of covariance.entries())
    for (let other = 0; other < row.length; other++)
      if (other !== place) row[other] = part * present(row[other])
}

/** True when no sum of the rates has a variance below zero, with this part of each covariance (Cholesky). */
function isDefinite(covariance: readonly (readonly number[])[], part: number): boolean {
  const left = covariance.map((row, place) =>
    row.map((value, other) => (other === place ? value : part * value)),
  )
  // The loop goes from the last rate to the first: the rates that all operations share come first, and taking these
  // last keeps the rest sparse.
  for (let place = left.length - 1; place >= 0; place--) {
    const row = present(left[place])
    const pivot = present(row[place])
    const others: [other: number, factor: number][] = []
    for (let other = 0; other < place; other++)
      if (row[other] !== 0) others.push([other, present(row[other]) / pivot])
    if (pivot < PIVOT_MIN * present(covariance[place]?.[place])) return false
    if (pivot === 0 && others.length > 0) return false
    for (const [other, factor] of others)
      for (const [second] of others)
        present(left[other])[second] =
          present(left[other]?.[second]) - factor * present(row[second])
  }
  return true
}

const present = <T>(value: T | undefined): T => found(value, 'a place of the regression')
