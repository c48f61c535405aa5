// The clock of an lru-cache with a time to live.
import type { Clock } from '#base/clock.ts'

/** Begins at 1: lru-cache takes an entry of time 0 for an entry without a time to live. */
export const cacheClock = (clock: Pick<Clock, 'monotonicMs'>) => ({
  now: () => clock.monotonicMs() + 1,
})
