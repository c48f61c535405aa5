// Tokens that were just refused: a client that keeps sending a revoked or mistyped token asks the state
// once a second, not once a request. A token that is made meanwhile is never in here: nobody can have
// sent its text, of 190 random bits, before it was made.
import type { Clock } from '#base/clock.ts'

const KEPT_MS = 1000
const KEPT_MAX = 4096

export type Refusal = 'token_unknown' | 'token_revoked'

export interface Refused {
  /** Why the text was refused within the last second. */
  why(text: string): Refusal | undefined
  keep(text: string, why: Refusal): void
  /** Credentials have changed: all are asked for again. */
  clear(): void
}

export function createRefused(clock: Pick<Clock, 'monotonicMs'>): Refused {
  const refused = new Map<string, { readonly why: Refusal; readonly untilMs: number }>()
  return {
    why(text) {
      const known = refused.get(text)
      if (known === undefined) return undefined
      if (clock.monotonicMs() < known.untilMs) return known.why
      refused.delete(text)
      return undefined
    },
    keep(text, why) {
      if (refused.size >= KEPT_MAX) refused.delete(refused.keys().next().value ?? '')
      refused.set(text, { why, untilMs: clock.monotonicMs() + KEPT_MS })
    },
    clear: () => refused.clear(),
  }
}
