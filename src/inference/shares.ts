// The limit of an account's calls at a provider: as many as are still free. So a single account gets half of the calls,
// each of two at least a third, and the next account finds some. Without the limit the streams of one account made
// 503 `overloaded` for all others.
import { fault } from '#contract/errors.ts'

const RETRY_AFTER_S = 1

export interface Shares {
  /**
   * Counts a call until the function that it returns is called; further calls of that do nothing. Throws
   * too_many_requests, or overloaded when nothing is free.
   */
  enter(provider: string, account: string): () => void
}

type RunningShares = { all: number; readonly byAccount: Map<string, number> }

/** Shares of providers that take `callsMax` calls each. */
export function createShares(callsMax: number): Shares {
  const providers = new Map<string, RunningShares>()
  return {
    enter(provider, account) {
      const running = providers.get(provider) ?? { all: 0, byAccount: new Map<string, number>() }
      const own = running.byAccount.get(account) ?? 0
      if (own >= callsMax - running.all) throw refusal(provider, own, running.all < callsMax)
      providers.set(provider, running)
      running.all++
      running.byAccount.set(account, own + 1)
      let isLeft = false
      return () => {
        if (isLeft) return
        isLeft = true
        running.all--
        const left = (running.byAccount.get(account) ?? 1) - 1
        if (left > 0) running.byAccount.set(account, left)
        else running.byAccount.delete(account)
        if (running.all === 0) providers.delete(provider)
      }
    },
  }
}

const refusal = (provider: string, own: number, isShare: boolean) =>
  isShare
    ? fault(
        'too_many_requests',
        `Could not ask ${provider}: ${own} calls of this account are running, the rest is for others`,
        { retryAfterS: RETRY_AFTER_S },
      )
    : fault('overloaded', `Could not ask ${provider}: all its calls are taken`, {
        retryAfterS: RETRY_AFTER_S,
      })
