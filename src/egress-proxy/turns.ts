// Connections of accounts: how many each has open, and how fast it opens them. An account has a part of the free
// connections (dynamic thresholds, Choudhury and Hahne 1998), so a few never fill the proxy; and its openings follow
// one another.
import type { Clock } from '#base/clock.ts'

const OPEN_MAX = 2000
/** Each has a socket inward and one outward; the rest is for names, and for connections that are not greeted yet. */
export const EGRESS_FILES_MAX = 2 * OPEN_MAX + 1000
const OF_ACCOUNT_MAX = 200
/** An account opens while it has less than this part of the free ones. */
const PART = 1 / 8
/** An opening takes 0.3 ms of CPU, so an account takes 6 % of the proxy by it. */
const PACE_MS = 5
/** Openings in a row without a pace. */
const ROW_MAX = 100
const WAIT_MAX_MS = 1000
const PACES_KEPT = 10_000

export type ConnectionTurn = {
  /** Until the connection may be made. */
  readonly waitMs: number
  end(): void
}

export interface ConnectionTurns {
  /** Undefined where the account has its part, or opens too fast. */
  take(account: string): ConnectionTurn | undefined
}

export function createConnectionTurns(
  clock: Pick<Clock, 'monotonicMs'>,
  openMax = OPEN_MAX,
): ConnectionTurns {
  const open = new Map<string, number>()
  let sum = 0
  const paceOf = createPaces(clock)
  return {
    take(account) {
      const count = open.get(account) ?? 0
      if (count >= Math.min(OF_ACCOUNT_MAX, (openMax - sum) * PART)) return undefined
      const waitMs = paceOf(account)
      if (waitMs === undefined) return undefined
      open.set(account, count + 1)
      sum++
      let isEnded = false
      return {
        waitMs,
        end() {
          if (isEnded) return
          isEnded = true
          sum--
          const left = (open.get(account) ?? 1) - 1
          if (left === 0) open.delete(account)
          else open.set(account, left)
        },
      }
    },
  }
}

/** The wait of the next opening of an account; undefined where it would be too long. */
function createPaces(clock: Pick<Clock, 'monotonicMs'>): (account: string) => number | undefined {
  /** The time at which all openings so far would be done at their pace. */
  const doneAt = new Map<string, number>()
  return (account) => {
    const nowMs = clock.monotonicMs()
    if (doneAt.size > PACES_KEPT)
      for (const [one, atMs] of doneAt) if (atMs <= nowMs) doneAt.delete(one)
    const atMs = Math.max(nowMs, doneAt.get(account) ?? 0) + PACE_MS
    const waitMs = Math.max(0, atMs - nowMs - ROW_MAX * PACE_MS)
    if (waitMs > WAIT_MAX_MS) return undefined
    doneAt.set(account, atMs)
    return waitMs
  }
}
