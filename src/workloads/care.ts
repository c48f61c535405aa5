// The care of workloads, side by side: one workload of an account at a time, and a few accounts at once. A workload whose
// care failed rests for as long as that care took, and longer after several failures, so no other workload waits for it.
import type { Clock } from '#base/clock.ts'
import type { Resource } from '#resources/resource.ts'

/** Accounts at once. */
const ACCOUNTS_MAX = 8
const REST_MAX_MS = 300_000

export interface Care<R extends Resource> {
  /** Begins what has a place, and keeps the rest waiting until the next call. */
  begin(wanted: readonly R[], signal: AbortSignal): void
  /** Resolves when nothing is in work. */
  idle(): Promise<void>
}

type CareDeps<R extends Resource> = {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** Resolves with false where it failed. Never rejects. */
  readonly work: (resource: R, signal: AbortSignal) => Promise<boolean>
}

export function createCare<R extends Resource>({ clock, work }: CareDeps<R>): Care<R> {
  const running = new Map<string, Promise<void>>()
  /** Workloads that failed last, with the failures in a row and the time of the next try. */
  const failures = new Map<string, { readonly count: number; readonly againMs: number }>()
  let waiting: R[] = []
  const countOf = ({ id }: R) => failures.get(id)?.count ?? 0
  const isRested = ({ id }: R) => (failures.get(id)?.againMs ?? 0) <= clock.monotonicMs()
  const one = async (resource: R, signal: AbortSignal) => {
    const { id, account } = resource
    const beganMs = clock.monotonicMs()
    const isFine = await work(resource, signal)
    const count = countOf(resource) + 1
    const nowMs = clock.monotonicMs()
    const restMs = Math.min(REST_MAX_MS, count * (nowMs - beganMs))
    if (isFine) failures.delete(id)
    else failures.set(id, { count, againMs: nowMs + restMs })
    running.delete(account)
    next(signal)
  }
  const next = (signal: AbortSignal) => {
    while (!signal.aborted && running.size < ACCOUNTS_MAX) {
      const nth = waiting.findIndex((own) => !running.has(own.account) && isRested(own))
      const [found] = nth < 0 ? [] : waiting.splice(nth, 1)
      if (found === undefined) return
      running.set(found.account, one(found, signal))
    }
  }
  return {
    begin(wanted, signal) {
      const ids = new Set(wanted.map(({ id }) => id))
      for (const id of failures.keys()) if (!ids.has(id)) failures.delete(id)
      waiting = wanted.toSorted((a, b) => countOf(a) - countOf(b))
      next(signal)
    },
    async idle() {
      await Promise.all(running.values())
    },
  }
}
