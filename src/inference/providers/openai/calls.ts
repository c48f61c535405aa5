// The calls that a provider has under way: bounded, and waited for before its connections are closed.
import { fault } from '#contract/errors.ts'

export interface Calls {
  /** Throws overloaded when as many as may be are running. */
  enter(): void
  leave(): void
  /** Resolves when none runs, at the latest after this time. */
  calm(limitMs: number): Promise<void>
}

export function createCalls(provider: string, callsMax: number): Calls {
  let running = 0
  const waiting = new Set<() => void>()
  return {
    enter() {
      if (running >= callsMax)
        throw fault('overloaded', `Could not ask ${provider}: ${running} calls are running`, {
          retryAfterS: 1,
        })
      running++
    },
    leave() {
      running--
      if (running === 0) for (const wake of waiting) wake()
    },
    calm: (limitMs) =>
      new Promise((resolve) => {
        if (running === 0 || limitMs === 0) return resolve()
        const wake = () => {
          clearTimeout(late)
          waiting.delete(wake)
          resolve()
        }
        // A process that ends does not wait for it.
        const late = setTimeout(wake, limitMs).unref()
        waiting.add(wake)
      }),
  }
}
