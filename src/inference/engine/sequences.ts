// The sequences of a context: taken once, lent to one generation at a time, never disposed. Who waits is
// served by turns of the accounts, of each first come, first served; waiting is bounded.
import { fault } from '#contract/errors.ts'

const WAITING_MAX = 256

export type Pool<T> = {
  /**
   * Resolves with a free one; `payer` is whose turn it is. Throws `overloaded` when too many wait; rejects
   * when the signal aborts.
   */
  take(signal: AbortSignal, payer?: string): Promise<T>
  give(item: T): void
  readonly free: number
}

export function createPool<T>(items: readonly T[], waitingMax: number = WAITING_MAX): Pool<T> {
  const free = [...items]
  // In the order of turns.
  const waiting = new Map<string, Set<(item: T) => void>>()
  let count = 0
  const forget = (payer: string, queue: Set<(item: T) => void>, accept: (item: T) => void) => {
    if (queue.delete(accept)) count--
    if (queue.size === 0) waiting.delete(payer)
  }
  return {
    take(signal, payer = '') {
      signal.throwIfAborted()
      const item = free.pop()
      if (item !== undefined) return Promise.resolve(item)
      if (count >= waitingMax)
        throw fault('overloaded', `Could not take the request: ${count} wait already`, {
          retryAfterS: 5,
        })
      const queue = waiting.get(payer) ?? new Set()
      return new Promise((resolve, reject) => {
        const abandon = () => {
          forget(payer, queue, accept)
          reject(signal.reason)
        }
        const accept = (given: T) => {
          signal.removeEventListener('abort', abandon)
          resolve(given)
        }
        waiting.set(payer, queue.add(accept))
        count++
        signal.addEventListener('abort', abandon, { once: true })
      })
    },
    give(item) {
      const [turn] = waiting
      const [payer = '', queue] = turn ?? []
      const [first] = queue ?? []
      if (queue === undefined || first === undefined) return void free.push(item)
      // The account's next one waits behind those of all others.
      waiting.delete(payer)
      waiting.set(payer, queue)
      forget(payer, queue, first)
      first(item)
    },
    get free() {
      return free.length
    },
  }
}
