// When a delivery is attempted: ten times within 75.6 hours, spread so that many deliveries that failed together do not
// come back together.

const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** Before the first attempt, the second one and so on. */
export const DELAYS_MS = [
  0,
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const
const SPREAD = 0.2

/**
 * Milliseconds until the next attempt, by the number of earlier ones; null after the last one. `random` is from 0 to
 * 1.
 */
export function delayAfter(attempts: number, random: () => number): number | null {
  const delayMs = DELAYS_MS[attempts]
  if (delayMs === undefined) return null
  return Math.round(delayMs * (1 - SPREAD + 2 * SPREAD * random()))
}
