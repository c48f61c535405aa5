// Tokens that were just refused: a client that keeps sending a revoked or mistyped token asks the state
// once a second, not once a request. A token that is made meanwhile is never in here: nobody can have
// sent its text, of 190 random bits, before it was made.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'
import { cacheClock } from './cache-clock.ts'

const KEPT_MS = 1000
const KEPT_MAX = 4096

export type TokenRefusal = 'token_unknown' | 'token_revoked'

export interface RefusedTokens {
  /** Why the text was refused within the last second. */
  why(text: string): TokenRefusal | undefined
  keep(text: string, why: TokenRefusal): void
  /** Credentials have changed: all are asked for again. */
  clear(): void
}

export function createRefused(clock: Pick<Clock, 'monotonicMs'>): RefusedTokens {
  const refused = new LRUCache<string, TokenRefusal>({
    max: KEPT_MAX,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: cacheClock(clock),
  })
  return {
    why: (text) => refused.get(text),
    keep: (text, why) => void refused.set(text, why),
    clear: () => refused.clear(),
  }
}
