// Random choices that a seed repeats.

export type Random = {
  /** A whole number from 0 up to, and without, the limit. */
  below(limit: number): number
  shuffled<T>(all: readonly T[]): T[]
}

/** mulberry32: enough for choosing whom to kill when. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return {
    below,
    shuffled(all) {
      const rest = [...all]
      return all.flatMap(() => rest.splice(below(rest.length), 1))
    },
  }
}
