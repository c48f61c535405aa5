// The sequences of a context: taken once, lent to one generation at a time, never disposed. Waiting is
// first come, first served, and bounded.
import { fault } from '#contract/errors.ts'

const WAITING_MAX = 256

export type Pool<T> = {
  /** Resolves with a free one. Throws `overloaded` when too many wait; rejects when the signal aborts. */
  take(signal: AbortSignal): Promise<T>
  give(item: T): void
  readonly free: number
}

export function createPool<T>(items: readonly T[], waitingMax: number = WAITING_MAX): Pool<T> {
  const free = [...items]
  const waiting = new Set<(item: T) => void>()
  return {
    take(signal) {
      signal.throwIfAborted()
      const item = free.pop()
      if (item !== undefined) return Promise.resolve(item)
      if (waiting.size >= waitingMax)
        throw fault('overloaded', `Could not take the request: ${waiting.size} wait already`, {
          retryAfterS: 5,
        })
      return new Promise((resolve, reject) => {
        const abandon = () => {
          waiting.delete(accept)
          reject(signal.reason)
        }
        const accept = (given: T) => {
          signal.removeEventListener('abort', abandon)
          resolve(given)
        }
        waiting.add(accept)
        signal.addEventListener('abort', abandon, { once: true })
      })
    },
    give(item) {
      const [first] = waiting
      if (first === undefined) free.push(item)
      else {
        waiting.delete(first)
        first(item)
      }
    },
    get free() {
      return free.length
    },
  }
}
