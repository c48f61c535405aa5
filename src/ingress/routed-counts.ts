// Requests of routes that have ended, and those of them that the service failed: for the public status page and the error
// rates of accounts.
import { ErgonError } from '#base/errors.ts'
import { isServiceFault } from '#contract/errors.ts'
import { createAccountCounts } from '#http/account-counts.ts'
import type { RoutedCounts } from '#http/counts-pages.ts'
import { rulesOfKind, type RoutedKind } from './kinds.ts'
import type { IngressRoute } from './routes.ts'

/** Why nothing of an instance was passed on. */
export type UnansweredRequest = {
  readonly error: unknown
  /** The error has ended the request: a time was over. */
  readonly isLate: boolean
}

/** Reports the end of a request of a route. */
export type RequestEnded = (
  route: Pick<IngressRoute, 'account' | 'kind'>,
  unanswered?: UnansweredRequest,
) => void

export interface RoutedCounter {
  readonly ended: RequestEnded
  /** Counts by account begin anew. */
  take(): RoutedCounts
}

export function createRoutedCounter(): RoutedCounter {
  const accounts = createAccountCounts()
  let [requests, failures] = [0, 0]
  return {
    ended({ account, kind }, unanswered) {
      const isFailed = unanswered !== undefined && isOurs(unanswered, kind)
      requests++
      if (isFailed) failures++
      accounts.add(account, isFailed)
    },
    take: () => ({ requests, failures, accounts: [...accounts.take()] }),
  }
}

/**
 * Not a failure of the code: an error, an end or a late answer of its process, more requests than it takes, and whatever
 * the code itself answers. A function that is late to start is ours, and a container is its image's. A function that is made
 * or replaced answers the same at once: its owner could colour the page by that.
 */
function isOurs({ error, isLate }: UnansweredRequest, kind: RoutedKind): boolean {
  if (!isServiceFault(error)) return false
  if (!(error instanceof ErgonError)) return true
  const { refusals, hasOurRuntime } = rulesOfKind(kind)
  if (error.code === refusals.starting) return hasOurRuntime && isLate
  return !Object.values<string>(refusals).includes(error.code)
}
