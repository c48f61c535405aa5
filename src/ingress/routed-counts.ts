// Requests of routes that have ended, and those of them that the service failed: for the public status page. No account's own
// error rate has them: a stranger with a route could push the account onto the page, and recognise its public name.
import { ErgonError } from '#base/errors.ts'
import { isServiceFault } from '#contract/errors.ts'
import type { RoutedCounts } from '#http/counts-pages.ts'
import { rulesOfKind, type RoutedKind } from './kinds.ts'
import type { IngressRoute } from './routes.ts'
import { ServiceStartFault } from './start-failure.ts'

/** Reports the end of a request of a route; `error` is why nothing of an instance was passed on. */
export type RequestEnded = (route: Pick<IngressRoute, 'kind'>, error?: unknown) => void

export interface RoutedCounter {
  readonly ended: RequestEnded
  read(): RoutedCounts
}

export function createRoutedCounter(): RoutedCounter {
  let [requests, failures] = [0, 0]
  return {
    ended({ kind }, error) {
      requests++
      if (error !== undefined && isOurs(error, kind)) failures++
    },
    read: () => ({ requests, failures }),
  }
}

/**
 * Not a failure of the code: an error, an end or a late answer of its process, more requests than it takes, and whatever
 * the code itself answers. Nor of its owner, who makes and replaces versions: code that hangs while its first version is
 * tried refuses any number of requests. Of starts only a ServiceStartFault is ours.
 */
function isOurs(error: unknown, kind: RoutedKind): boolean {
  if (!isServiceFault(error)) return false
  if (!(error instanceof ErgonError) || error instanceof ServiceStartFault) return true
  return !Object.values<string>(rulesOfKind(kind).refusals).includes(error.code)
}
