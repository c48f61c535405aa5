// How many requests of one account run at once in this process. Without a limit one account can take
// every connection to the state from all others, at no risk to itself; of models see inference/shares.ts.
import { fault } from '#contract/errors.ts'

export const ACCOUNT_REQUESTS_MAX = 256
const RETRY_AFTER_S = 1

export interface AccountLoad {
  /** Counts a request until the function that it returns is called, once. Throws too_many_requests. */
  enter(account: string): () => void
}

export function createAccountLoad(requestsMax: number): AccountLoad {
  const running = new Map<string, number>()
  return {
    enter(account) {
      const count = running.get(account) ?? 0
      if (count >= requestsMax)
        throw fault(
          'too_many_requests',
          `Could not take the request: ${count} of this account are running`,
          { retryAfterS: RETRY_AFTER_S },
        )
      running.set(account, count + 1)
      return () => {
        const left = (running.get(account) ?? 1) - 1
        if (left > 0) running.set(account, left)
        else running.delete(account)
      }
    },
  }
}
