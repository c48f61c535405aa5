// Accounts: who is billed.
import { newId } from '#base/ids.ts'
import type { Queryable } from '#state/connect.ts'

/** Makes an account with its energy wallet; funds come by grant_funds. */
export async function createAccount(state: Queryable, env: 'live' | 'test'): Promise<string> {
  const id = newId('acct')
  await state.query('insert into accounts (id, env) values ($1, $2)', [id, env])
  await state.query(
    "insert into wallets (id, unit, bounded) values ('energy:' || $1, 'nJ', false)",
    [id],
  )
  return id
}
