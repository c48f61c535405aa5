// Requests of routes that have ended, and those of them that the service failed: for the public status page and the error
// rates of accounts.
import { ErgonError } from '#base/errors.ts'
import { isServiceFault } from '#contract/errors.ts'
import { createAccountCounts } from '#http/account-counts.ts'
import type { RoutedCounts } from '#http/counts-pages.ts'
import { rulesOfKind, type RoutedKind } from './kinds.ts'
import type { IngressRoute } from './routes.ts'

/** Reports the end of a request of a route; `error` is why nothing of an instance was passed on. */
export type RequestEnded = (route: Pick<IngressRoute, 'account' | 'kind'>, error?: unknown) => void

export interface RoutedCounter {
  readonly ended: RequestEnded
  /** Counts by account begin anew. */
  take(): RoutedCounts
}

export function createRoutedCounter(): RoutedCounter {
  const accounts = createAccountCounts()
  let [requests, failures] = [0, 0]
  return {
    ended({ account, kind }, error) {
      const isFailed = error !== undefined && isOurs(error, kind)
      requests++
      if (isFailed) failures++
      accounts.add(account, isFailed)
    },
    take: () => ({ requests, failures, accounts: [...accounts.take()] }),
  }
}

/**
 * Not a failure of the code: an error, an end or a late answer of its process, more requests than it takes, and whatever
 * the code itself answers. The start of a function is ours, that of a container its image's.
 */
function isOurs(error: unknown, kind: RoutedKind): boolean {
  if (!isServiceFault(error)) return false
  if (!(error instanceof ErgonError)) return true
  const { refusals, hasOurRuntime } = rulesOfKind(kind)
  if (error.code === refusals.starting) return hasOurRuntime
  return !Object.values<string>(refusals).includes(error.code)
}
