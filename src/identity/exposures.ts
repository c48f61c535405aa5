// Tokens in the addresses of requests. Histories, logs of proxies and referrers keep addresses, so the owner of
// such a token is notified, by an event and in the list of tokens, once an hour.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'
import { cacheClock } from './cache-clock.ts'
import { messageOf } from '#base/errors.ts'
import { tokenFinder } from '#base/mask-tokens.ts'
import type { Logger } from '#base/log.ts'
import type { Queryable } from '#state/connect.ts'
import { isTokenText } from './token-text.ts'
import type { Identity } from './identity.ts'

export interface Exposures {
  /** Finds tokens in a request's target; their owners are looked up and notified afterwards. */
  see(target: string): void
}

const QUIET_MS = 3_600_000
const KEPT_MAX = 10_000
/** Tokens looked up in one address. */
const TOKENS_MAX = 4
/** The finder that logs mask tokens with: a token that logs hide is reported to its owner. */
const tokensIn = tokenFinder(38)

export function createExposures(deps: {
  state: Queryable
  identity: Pick<Identity, 'identifyToken'>
  clock: Pick<Clock, 'monotonicMs'>
  log: Logger
}): Exposures {
  const { state, identity, clock, log } = deps
  // Tokens whose owners were notified within the last hour.
  const alarmed = new LRUCache<string, true>({
    max: KEPT_MAX,
    ttl: QUIET_MS,
    ttlResolution: 0,
    perf: cacheClock(clock),
  })

  async function tell(text: string): Promise<void> {
    try {
      const { token } = await identity.identifyToken(text)
      if (alarmed.has(token)) return
      alarmed.set(token, true)
      await state.query('select note_exposed_token($1)', [token]).catch((error: unknown) => {
        alarmed.delete(token)
        throw error
      })
    } catch (error) {
      // A token that is not valid can do no harm, and the next address says it again.
      log.debug('A token in an address was not noted', { error: messageOf(error) })
    }
  }

  return {
    see(target) {
      // Nearly every target ends here.
      if (!target.includes('svc') && !target.includes('%')) return
      const found = Iterator.from(tokensIn(target)).filter(isTokenText)
      for (const text of new Set(found.take(TOKENS_MAX))) void tell(text)
    },
  }
}
