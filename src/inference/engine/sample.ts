// Sampling from the full softmax, for requests that also want its probabilities.
import type { Token } from 'node-llama-cpp'

/** Deterministic numbers in [0, 1) for a 32-bit seed (mulberry32). */
export function uniform(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Draws a token at a temperature above 0 from the nucleus that holds `topP` of the mass.
 * `sorted`: the softmax at temperature 1, most likely first.
 */
export function sampleFrom(
  sorted: readonly (readonly [Token, number])[],
  { temperature, topP }: { readonly temperature: number; readonly topP: number },
  random: () => number,
): Token {
  const best = sorted[0]
  if (best === undefined) throw new RangeError('No token to sample from: the softmax is empty')
  // softmax(logits / t) is p^(1/t), normalised; dividing by the best first keeps it from underflowing.
  const weights = sorted.map(([, probability]) => (probability / best[1]) ** (1 / temperature))
  const mass = weights.reduce((sum, weight) => sum + weight, 0)
  let nucleus = 0
  let size = 0
  while (size < weights.length && (size === 0 || nucleus < topP * mass))
    nucleus += weights[size++] ?? 0
  let left = random() * nucleus
  for (let index = 0; index < size; index++) {
    left -= weights[index] ?? 0
    if (left <= 0) return sorted[index]?.[0] ?? best[0]
  }
  return sorted[size - 1]?.[0] ?? best[0]
}
