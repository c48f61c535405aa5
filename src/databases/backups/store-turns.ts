// The turns in which logs are stored: so many pieces at once, and fewer of one account. A store that takes long for the
// databases of an account leaves turns to the others.

export interface StoreTurns {
  /**
   * Resolves with a turn of the account, until its disposal. Rejects with the signal's reason. `waits` is called where no
   * turn is free.
   */
  take(account: string, signal: AbortSignal, waits?: () => void): Promise<Disposable>
}

/** A piece in work has 4 MiB of its log and the buffers of its compression. */
const AT_ONCE = 16
const AT_ONCE_OF_ACCOUNT = 4

type WaitingStore = { readonly account: string; readonly begin: () => void }

export function createStoreTurns(
  limits: { readonly all: number; readonly account: number } = {
    all: AT_ONCE,
    account: AT_ONCE_OF_ACCOUNT,
  },
): StoreTurns {
  const waiting = new Set<WaitingStore>()
  const running = new Map<string, number>()
  let all = 0
  const isFree = (account: string) =>
    all < limits.all && (running.get(account) ?? 0) < limits.account

  function count(account: string, change: 1 | -1): void {
    all += change
    const left = (running.get(account) ?? 0) + change
    if (left === 0) running.delete(account)
    else running.set(account, left)
  }
  /** The one that waits longest of those whose account has a turn left. */
  function beginNext(): void {
    for (const next of waiting) {
      if (!isFree(next.account)) continue
      waiting.delete(next)
      next.begin()
    }
  }
  function turnOf(account: string): Disposable {
    count(account, 1)
    return {
      [Symbol.dispose]() {
        count(account, -1)
        beginNext()
      },
    }
  }
  return {
    async take(account, signal, waits) {
      signal.throwIfAborted()
      if (isFree(account)) return turnOf(account)
      waits?.()
      const begun = Promise.withResolvers<Disposable>()
      const next = { account, begin: () => begun.resolve(turnOf(account)) }
      const giveUp = () => {
        if (waiting.delete(next)) begun.reject(signal.reason)
      }
      waiting.add(next)
      signal.addEventListener('abort', giveUp, { once: true })
      return await begun.promise.finally(() => signal.removeEventListener('abort', giveUp))
    },
  }
}
