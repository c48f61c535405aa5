// Who pays for what nobody asked by name, as reads of a public bucket: an account, looked up.
import type { Clock } from '#base/clock.ts'
import { fault } from '#contract/errors.ts'
import type { Queryable } from '#state/connect.ts'

/** An account as work is billed to it. */
export type AccountPayer = {
  readonly account: string
  readonly env: 'live' | 'test'
  readonly funded: boolean
}

export interface Payers {
  /** Whether there is such an account. */
  exists(account: string): Promise<boolean>
  /**
   * Synchronous when it was asked for in the last seconds; who asks while it is looked up waits for the
   * same answer. Throws not_found.
   */
  payerOf(account: string): AccountPayer | Promise<AccountPayer>
}

// Whether funds were ever on file changes once in an account's life.
const KEPT_MS = 5000
const CACHE_MAX = 10_000

export function createPayers(deps: { state: Queryable; clock: Clock }): Payers {
  const { state, clock } = deps
  const cache = new Map<string, { payer: AccountPayer; untilMs: number }>()
  /** In flight. Each takes a connection, so there must not be one for each who asks. */
  const lookUps = new Map<string, Promise<AccountPayer>>()

  async function lookUp(account: string): Promise<AccountPayer> {
    const { rows } = await state.query<Omit<AccountPayer, 'account'>>(
      'select env, funded from accounts where id = $1',
      [account],
    )
    const [row] = rows
    if (row === undefined) throw fault('not_found', `Could not find the account: "${account}"`)
    const payer = { account, env: row.env, funded: row.funded }
    if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value ?? '')
    cache.set(account, { payer, untilMs: clock.monotonicMs() + KEPT_MS })
    return payer
  }

  return {
    async exists(account) {
      const { rows } = await state.query('select from accounts where id = $1', [account])
      return rows.length > 0
    },
    payerOf(account) {
      const known = cache.get(account)
      if (known !== undefined && known.untilMs > clock.monotonicMs()) return known.payer
      const inFlight =
        lookUps.get(account) ?? lookUp(account).finally(() => lookUps.delete(account))
      lookUps.set(account, inFlight)
      return inFlight
    },
  }
}
