// Time comes in through this type, so that tests and the simulation can own it.

export type Clock = {
  /** Wall time in milliseconds since 1970, for display, ids and days. */
  wallMs(): number
  /** Monotonic time in milliseconds, for timeouts and leases. */
  monotonicMs(): number
}

/** A clock that also calls back, for what acts by itself. */
export type TimerClock = Clock & {
  /** Calls back once after a time; returns how to cancel it. */
  setTimer(ms: number, fire: () => void): () => void
}

export const systemClock: TimerClock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  setTimer(ms, fire) {
    const timer = setTimeout(fire, ms)
    return () => clearTimeout(timer)
  },
}

/** RFC 3339 UTC with milliseconds. */
export const timestamp = (wallMs: number): string => new Date(wallMs).toISOString()

/** The UTC day of a wall time, as 2026-11-21. */
export const dayOf = (wallMs: number): string => timestamp(wallMs).slice(0, 10)

/** Resolves after a time; rejects with the signal's reason when it is aborted first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
