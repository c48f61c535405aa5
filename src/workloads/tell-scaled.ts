// The number of instances of workloads, told to their accounts once it has not changed for a while. That the first one wakes
// and the last one sleeps is no news: accounts would have an event for each pause of their visitors.
import { messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'

const SETTLED_MS = 3000

export interface ScaledTeller {
  /** The number may have changed. */
  changed(id: string): void
  close(): void
}

export function createScaledTeller({
  state,
  log,
  countOf,
  settledMs = SETTLED_MS,
}: {
  readonly state: Queryable
  readonly log: Logger
  readonly countOf: (id: string) => number
  readonly settledMs?: number
}): ScaledTeller {
  const lastCounts = new Map<string, number>()
  const timers = new Map<string, NodeJS.Timeout>()
  const tell = (id: string) => {
    timers.delete(id)
    const count = countOf(id)
    const before = lastCounts.get(id)
    if (count === 0) lastCounts.delete(id)
    else lastCounts.set(id, count)
    // The state has the reports of an earlier life of the agent.
    if (count === before) return
    state
      .query('select tell_workload_instances($1, $2)', [id, count])
      .catch((error: unknown) =>
        log.warn('A change of instances is not told', { id, error: messageOf(error) }),
      )
  }
  return {
    changed(id) {
      clearTimeout(timers.get(id))
      timers.set(
        id,
        setTimeout(() => tell(id), settledMs),
      )
    },
    close: () => timers.forEach((timer) => clearTimeout(timer)),
  }
}
