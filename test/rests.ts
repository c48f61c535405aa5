// Rests between checks of something that others change. A check costs CPU in several processes of the product, so a long
// wait checks less often.
import { setTimeout as pause } from 'node:timers/promises'

const FIRST_MS = 50
/** Some states that tests wait for last half a second. */
const MOST_MS = 250
/** A long wait is longer than necessary by this part at most. */
const OF_WAIT = 0.1

/** Rests for 50 ms at first, and for a tenth of the wait so far, up to 250 ms. */
export function createRests(): () => Promise<void> {
  const sinceMs = performance.now()
  return () => pause(Math.min(MOST_MS, Math.max(FIRST_MS, OF_WAIT * (performance.now() - sinceMs))))
}
