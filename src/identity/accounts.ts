// Accounts: the parties that are billed.
import { newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import { recordOperatorAct } from './audit.ts'
import type { Queryable, State } from '#state/connect.ts'

/**
 * Makes an account with its energy wallet and its owner; funds come by grant_funds. `name` is the one that people gave it,
 * `owner` the id that its owner gets.
 */
export async function createAccount(
  state: Queryable,
  env: 'live' | 'test',
  { name, owner = newId('mem') }: { readonly name?: string; readonly owner?: string } = {},
): Promise<string> {
  const id = newId('acct')
  await state.query('insert into accounts (id, env, name) values ($1, $2, $3)', [
    id,
    env,
    name ?? null,
  ])
  await state.query(
    "insert into wallets (id, unit, bounded) values ('energy:' || $1, 'nJ', false)",
    [id],
  )
  await state.query(
    `insert into members (id, account, name, role, state, joined_at) values ($1, $2, 'owner', 'owner', 'active', now())`,
    [owner, id],
  )
  return id
}

/**
 * Says whether the account refuses S3 addresses and forms that carry a token; gateways act on it from
 * their next tick on. Throws not_found.
 */
export async function setRefuseTokenPresign(
  state: State,
  account: string,
  refuses: boolean,
): Promise<void> {
  await state.transaction(async (transaction) => {
    const { rowCount } = await transaction.query(
      "update accounts set refuse_token_presign = $2 where id = $1 and id <> 'nobody'",
      [account, refuses],
    )
    if (rowCount === 0)
      throw fault('not_found', `Could not change the account: no account "${account}"`)
    const details = { refuse_token_presign: refuses }
    await recordOperatorAct(transaction, account, {
      action: 'account.set',
      target: account,
      details,
    })
    await transaction.query('select change_credentials(null, $1)', [account])
  })
}
