// Quantiles of a stream of positive numbers in which old values fade: a histogram over logarithmic
// buckets whose weights decay. Bounded memory, exact to half a bucket (2.5 %), no tuning per series.

export type Quantiles = {
  readonly samples: number
  record(value: number): void
  /**
   * The value below which a share `q` of the faded weight lies; undefined without samples. Once there
   * are hundreds of samples the last few may be missing in it.
   */
  at(q: number): number | undefined
  /** All that it knows, to be made again from: createQuantiles(halfLife, saved). */
  save(): SavedQuantiles
}

export type SavedQuantiles = {
  readonly samples: number
  /** Buckets and their weights; one more sample weighs 1. */
  readonly weights: readonly (readonly [bucket: number, weight: number])[]
}

const BUCKET_RATIO = 1.05
const LOG_RATIO = Math.log(BUCKET_RATIO)
/** Values from 10⁻⁹ to 10⁵⁰ have buckets of their own; the rest share the outermost. */
const BUCKET_MIN = -425
const BUCKET_MAX = 2360
/** Instead of fading all weights at each sample, each sample weighs more than the one before. */
const WEIGHT_MAX = 1e12
/** Finding a quantile sorts the buckets; every request asks for one, so an answer is kept for a while. */
const KEPT_SHARE = 1 / 64
const KEPT_SAMPLES_MAX = 16

/** After `halfLife` further samples a sample counts half. */
export function createQuantiles(
  halfLife = 200,
  saved: SavedQuantiles = { samples: 0, weights: [] },
): Quantiles {
  const growth = 2 ** (1 / halfLife)
  const weights = new Map<number, number>(saved.weights)
  const kept = new Map<number, { readonly value: number | undefined; readonly until: number }>()
  let weight = 1
  let { samples } = saved

  const fade = () => {
    for (const [bucket, old] of weights) weights.set(bucket, old / weight)
    weight = 1
  }

  const find = (q: number): number | undefined => {
    let rest = 0
    for (const each of weights.values()) rest += each
    rest *= q
    let value: number | undefined
    for (const bucket of [...weights.keys()].toSorted((a, b) => a - b)) {
      value = BUCKET_RATIO ** bucket
      rest -= weights.get(bucket) ?? 0
      if (rest <= 0) break
    }
    return value
  }

  return {
    get samples() {
      return samples
    },
    record(value) {
      if (!(value > 0) || !Number.isFinite(value))
        throw new RangeError(`Could not record a quantile of ${value}`)
      const exact = Math.round(Math.log(value) / LOG_RATIO)
      const bucket = Math.min(Math.max(exact, BUCKET_MIN), BUCKET_MAX)
      weights.set(bucket, (weights.get(bucket) ?? 0) + weight)
      samples++
      weight *= growth
      if (weight > WEIGHT_MAX) fade()
    },
    save: () => ({
      samples,
      weights: [...weights].map(([bucket, old]) => [bucket, old / weight] as const),
    }),
    at(q) {
      const known = kept.get(q)
      if (known !== undefined && samples < known.until) return known.value
      const value = find(q)
      const keep = Math.min(Math.floor(samples * KEPT_SHARE), KEPT_SAMPLES_MAX)
      kept.set(q, { value, until: samples + keep })
      return value
    },
  }
}
