// The payers of requests without a credential, such as reads of a public bucket: accounts, looked up.
import { LRUCache } from 'lru-cache'
import type { Clock } from '#base/clock.ts'
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { cacheClock } from './cache-clock.ts'
import { lookUpSilent } from './look-up.ts'
import { suspended } from './principal.ts'

/** An account as work is billed to it. */
export type AccountPayer = {
  readonly account: string
  readonly env: 'live' | 'test'
  readonly funded: boolean
  /** Its deletion was asked for: its records cannot be changed. */
  readonly isDeleting?: boolean
  /** The reason of the operator, while it is suspended: nobody is served at its expense. */
  readonly suspendedFor?: string
}

export interface Payers {
  /** True when there is such an account. */
  exists(account: string): Promise<boolean>
  /**
   * Synchronous when it was looked up in the last seconds. Callers during a lookup wait for its
   * answer, and concurrent callers share a query. Throws not_found, account_suspended, state_unavailable.
   */
  payerOf(account: string): AccountPayer | Promise<AccountPayer>
  /** Forgets whether the account has funds: the next call looks it up. */
  forget(account: string): void
}

type PayersById = ReadonlyMap<string, AccountPayer>

// `funded` changes once in an account's life.
const KEPT_MS = 5000
const CACHE_MAX = 10_000
/** Accounts of one query. */
const ASKED_MAX = 1000

export function createPayers(deps: { state: Queryable; clock: Clock }): Payers {
  const { state, clock } = deps
  const cache = new LRUCache<string, AccountPayer>({
    max: CACHE_MAX,
    ttl: KEPT_MS,
    ttlResolution: 0,
    perf: cacheClock(clock),
  })
  /** In flight. Each query takes a connection, so callers share it. */
  const lookUps = new Map<string, Promise<AccountPayer>>()
  /** The next query. It begins when the current turn has named all its accounts. */
  let next: { readonly accounts: string[]; readonly found: Promise<PayersById> } | undefined

  async function ask(accounts: readonly string[]): Promise<PayersById> {
    const payers = await readPayers(state, accounts)
    for (const payer of payers) cache.set(payer.account, payer)
    return new Map(payers.map((payer) => [payer.account, payer]))
  }

  function join(account: string): Promise<PayersById> {
    if (next === undefined || next.accounts.length >= ASKED_MAX) {
      const accounts: string[] = []
      const found = Promise.resolve().then(() => {
        if (next?.accounts === accounts) next = undefined
        return ask(accounts)
      })
      next = { accounts, found }
    }
    next.accounts.push(account)
    return next.found
  }

  async function lookUp(account: string): Promise<AccountPayer> {
    const payer = (await join(account)).get(account)
    if (payer === undefined) throw fault('not_found', `Could not find the account: "${account}"`)
    return served(payer)
  }

  function payerOf(account: string): AccountPayer | Promise<AccountPayer> {
    const known = cache.get(account)
    if (known !== undefined) return served(known)
    const inFlight = lookUps.get(account) ?? lookUp(account).finally(() => lookUps.delete(account))
    lookUps.set(account, inFlight)
    return inFlight
  }

  return {
    payerOf,
    forget: (account) => void cache.delete(account),
    async exists(account) {
      try {
        await payerOf(account)
        return true
      } catch (error) {
        if (!(error instanceof ErgonError)) throw error
        if (error.code === 'not_found') return false
        if (error.code === 'account_suspended') return true
        throw error
      }
    },
  }
}

/** Throws state_unavailable. */
async function readPayers(
  state: Queryable,
  accounts: readonly string[],
): Promise<readonly AccountPayer[]> {
  const { rows } = await state
    .query<Omit<AccountPayer, 'suspendedFor'> & { readonly suspendedFor: string | null }>(
      `select id as account, env, funded,
         exists (select from account_deletions d where d.account = accounts.id) as "isDeleting",
         (select reason from account_suspensions s where s.account = accounts.id) as "suspendedFor"
       from accounts where id = any($1)`,
      [accounts],
    )
    .catch((cause: unknown) => {
      throw lookUpSilent(cause)
    })
  return rows.map(({ suspendedFor, ...payer }) =>
    suspendedFor ? { ...payer, suspendedFor } : payer,
  )
}

function served(payer: AccountPayer): AccountPayer {
  if (payer.suspendedFor === undefined) return payer
  throw suspended('Could not answer', payer.suspendedFor)
}
