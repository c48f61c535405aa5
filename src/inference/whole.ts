// Whether an answer is asked for in one piece. Read as a stream it costs the gateway some work for each
// token, but each is known when it comes; in one piece nothing is known until the end. So only what is
// short, what the hold covers to the last token, and what its caller can be trusted to wait for.
import { LRUCache } from 'lru-cache'
import type { Spend } from '#charging/spend.ts'
import type { Provider } from './providers/provider.ts'

/** At ten tokens a second its head comes within the two minutes that an upstream has for it. */
const TOKENS_MAX = 1024
/** Answers that an account may leave half-made, at the operator's cost: so many, and one in fifty. */
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
  // How many answers each account has left and not made good by waiting for others.
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
