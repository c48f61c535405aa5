// Time comes in through this type, so that tests and the simulation can own it.

export type Clock = {
  /** Wall time in milliseconds since 1970, for display, ids and days. */
  wallMs(): number
  /** Monotonic time in milliseconds, for timeouts and leases. */
  monotonicMs(): number
}

/** A clock with timers, for parts that act by themselves. */
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

/** The last second that was printed: Date takes 2 µs for each of them, and a charge has two. */
let printed = { second: Number.NaN, text: '' }

/** RFC 3339 UTC with milliseconds; what is between two of them is the earlier one. */
export function timestamp(wallMs: number): string {
  const second = Math.floor(wallMs / 1000)
  if (second !== printed.second)
    printed = { second, text: new Date(second * 1000).toISOString().slice(0, -4) }
  return `${printed.text}${String(Math.floor(wallMs - second * 1000)).padStart(3, '0')}Z`
}

const DAY_MS = 86_400_000

/** The first millisecond of the UTC day of a wall time. */
export const dayBeginOf = (wallMs: number): number => Math.floor(wallMs / DAY_MS) * DAY_MS

/** The last millisecond of that day. */
export const dayEndOf = (wallMs: number): number => dayBeginOf(wallMs) + DAY_MS - 1

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
