// The sequences of a context: taken once, lent to one generation at a time, never disposed. An account has all but
// one of them at most, so that its long answers do not keep another account waiting. Waiting accounts take turns, and
// each account's requests are first come, first served; waiting is bounded.
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
  const lentMost = Math.max(1, items.length - 1)
  const lentTo = new Map<T, string>()
  const lent = new Map<string, number>()
  // In the order of turns.
  const waiting = new Map<string, Set<(item: T) => void>>()
  let count = 0
  const mayHave = (payer: string) => (lent.get(payer) ?? 0) < lentMost
  const lend = (item: T, payer: string): T => {
    lentTo.set(item, payer)
    lent.set(payer, (lent.get(payer) ?? 0) + 1)
    return item
  }
  const takeBack = (item: T) => {
    const payer = lentTo.get(item) ?? ''
    const left = (lent.get(payer) ?? 0) - 1
    lentTo.delete(item)
    if (left > 0) lent.set(payer, left)
    else lent.delete(payer)
  }
  const forget = (payer: string, queue: Set<(item: T) => void>, accept: (item: T) => void) => {
    if (queue.delete(accept)) count--
    if (queue.size === 0) waiting.delete(payer)
  }
  return {
    take(signal, payer = '') {
      signal.throwIfAborted()
      const item = mayHave(payer) ? free.pop() : undefined
      if (item !== undefined) return Promise.resolve(lend(item, payer))
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
      takeBack(item)
      free.push(item)
      // The loop meets the payers that wait now: a served payer goes to the end, and would be met again.
      for (const payer of waiting.keys().toArray()) {
        const queue = waiting.get(payer)
        const [first] = queue ?? []
        if (queue === undefined || first === undefined || !mayHave(payer)) continue
        const next = free.pop()
        if (next === undefined) return
        // The account's next one waits behind those of all others.
        waiting.delete(payer)
        waiting.set(payer, queue)
        forget(payer, queue, first)
        first(lend(next, payer))
      }
    },
    get free() {
      return free.length
    },
  }
}
