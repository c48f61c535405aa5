// Requests of each account that were answered, and those of them that the service failed, until the counts are taken.
// Every request passes here: one look-up and two additions.

export type AccountCount = { requests: number; failures: number }

/** Accounts between two takes; requests of further ones are not counted. */
const ACCOUNTS_MAX = 100_000

export interface AccountCounts {
  add(account: string, isFailed: boolean): void
  /** The requests that were counted since the counts were last taken. */
  requestsOf(account: string): number
  /** The counts so far; counting begins anew. */
  take(): ReadonlyMap<string, Readonly<AccountCount>>
  /** Puts back counts that could not be kept. */
  putBack(counts: ReadonlyMap<string, Readonly<AccountCount>>): void
}

export function createAccountCounts(): AccountCounts {
  let counts = new Map<string, AccountCount>()
  const countOf = (account: string): AccountCount => {
    const known = counts.get(account)
    if (known !== undefined) return known
    const count = { requests: 0, failures: 0 }
    if (counts.size < ACCOUNTS_MAX) counts.set(account, count)
    return count
  }
  return {
    add(account, isFailed) {
      const count = countOf(account)
      count.requests++
      if (isFailed) count.failures++
    },
    requestsOf: (account) => counts.get(account)?.requests ?? 0,
    take() {
      const taken = counts
      counts = new Map()
      return taken
    },
    putBack(taken) {
      for (const [account, { requests, failures }] of taken) {
        const count = countOf(account)
        count.requests += requests
        count.failures += failures
      }
    },
  }
}
