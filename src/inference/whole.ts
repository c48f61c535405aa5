// Decides whether an upstream is asked for an answer in one piece. A stream costs the gateway some work for each token,
// and shows each token as it comes; an answer in one piece shows nothing until its end. So an answer in one piece is
// short, is covered by the hold to its last token, and is for a caller who usually stays to the end.
import { LRUCache } from 'lru-cache'
import type { Spend } from '#charging/spend.ts'
import type { Provider } from './providers/provider.ts'

/** At ten tokens a second its head comes within the two minutes that an upstream has for it. */
const TOKENS_MAX = 1024
/** Answers that an account may leave half-made at the operator's cost: this number, and one in fifty. */
const LEFT_MAX = 64
const REGAINED = 1 / 50
const LEAVERS_MAX = 10_000

export type WholeRule = {
  allows(asked: {
    readonly provider: Provider
    readonly account: string
    readonly tokensMax: number
    readonly spend: Pick<Spend, 'cover'>
  }): boolean
  /** The caller left before an answer in one piece was there. */
  left(account: string): void
  /** The caller waited for it. */
  stayed(account: string): void
}

export function createWholeRule(): WholeRule {
  // Answers that each account has left, less those that it has waited for since.
  const leavers = new LRUCache<string, number>({ max: LEAVERS_MAX })
  return {
    allows: ({ provider, account, tokensMax, spend }) =>
      provider.givesWhole &&
      tokensMax <= TOKENS_MAX &&
      (leavers.get(account) ?? 0) < LEFT_MAX &&
      spend.cover(),
    left(account) {
      leavers.set(account, (leavers.get(account) ?? 0) + 1)
    },
    stayed(account) {
      const count = leavers.get(account)
      if (count === undefined) return
      if (count > REGAINED) leavers.set(account, count - REGAINED)
      else leavers.delete(account)
    },
  }
}
