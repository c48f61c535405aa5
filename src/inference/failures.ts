// Failures of offers. The operator's log has failures of upstreams, at most one a second of each; faults and overload by
// callers come thousands of times a second, and are not logged. The router and the model list know which upstreams
// rest after failures in a row.
import type { Clock } from '#base/clock.ts'
import { ErgonError, messageOf } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import type { ModelOffer } from './catalogue.ts'
import type { Providers } from './providers/provider.ts'
import type { ServerFault, ServerStates } from './providers/server-states.ts'

const SILENT_MS = 1000
const OFFERS_MAX = 1000

export interface Failures {
  /** To be told of each failure of an offer. */
  tell(offer: ModelOffer, error: unknown): void
  /** The provider of the offer rests after failures in a row. */
  rests(offer: ModelOffer): boolean
  /** Why: it failed again and again or nobody is there, or its server refuses the key. */
  faultOf(offer: ModelOffer): ServerFault | undefined
}

export function createFailures(deps: {
  readonly log: Logger
  readonly clock: Clock
  readonly providers: Providers
  readonly servers?: Pick<ServerStates, 'faultOf'>
}): Failures {
  const { log, clock, providers, servers } = deps
  // When each was last told of, and how many more there were since.
  const logged = new Map<string, { atMs: number; more: number }>()
  const faultOf = ({ provider }: ModelOffer): ServerFault | undefined =>
    servers?.faultOf(provider) ??
    (providers.get(provider)?.breaker?.rests === true ? 'unreachable' : undefined)
  return {
    tell(offer, error) {
      const nowMs = clock.monotonicMs()
      const fields = { model: offer.id, error: messageOf(error), ...causeOf(error) }
      if (!isUpstreams(error)) return log.debug('An offer refused', fields)
      const last = logged.get(offer.id)
      if (last !== undefined && nowMs - last.atMs < SILENT_MS) return void last.more++
      if (logged.size >= OFFERS_MAX) logged.clear()
      logged.set(offer.id, { atMs: nowMs, more: 0 })
      log.warn(
        'An offer failed',
        last === undefined ? fields : { ...fields, since_last: last.more },
      )
    },
    rests: (offer) => faultOf(offer) !== undefined,
    faultOf,
  }
}

/** The code of the connection's error, for the log alone. */
const causeOf = (error: unknown): { cause?: string } => {
  const cause = error instanceof Error ? error.cause : undefined
  if (!(cause instanceof Error)) return {}
  return { cause: String(('code' in cause && cause.code) || cause.message) }
}

/** The upstream's fault, or our own. */
const isUpstreams = (error: unknown): boolean =>
  !(error instanceof ErgonError) ||
  error.code === 'upstream_failed' ||
  error.code === 'upstream_timeout'
