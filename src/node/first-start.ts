// Content that a state needs before the first request: today's price, and at the very first start an account with
// test money and one token, which is shown once.
import { NJ_PER_J, PUSD_PER_USD } from '#base/units.ts'
import type { Config } from '#config/config.ts'
import { createAccount } from '#identity/accounts.ts'
import { recordOperatorAct } from '#identity/audit.ts'
import { firstOwner } from '#identity/members.ts'
import { createToken } from '#identity/tokens.ts'
import type { State } from '#state/connect.ts'

const TEST_FUNDS_PUSD = 5n * PUSD_PER_USD
const LOT_PRIORITY = 50

/** Makes the configured price the current one; says whether it was another one. */
export async function setPrice(state: State, config: Config): Promise<boolean> {
  const freeTierNj = config.freeTierJ * NJ_PER_J
  const id = `price-${config.pricePusdPerJ}-${freeTierNj}`
  const { rows } = await state.query<{ id: string }>('select id from current_price()')
  if (rows[0]?.id.startsWith(`${id}-`)) return false
  // A price that comes back after another gets a row of its own: receipts name what was in force.
  await state.query(
    `insert into prices (id, pusd_per_j, free_tier_nj)
     select $1 || '-' || (select count(*) from prices), $2, $3`,
    [id, config.pricePusdPerJ.toString(), freeTierNj.toString()],
  )
  return true
}

export type FirstAccount = { readonly account: string; readonly token: string | undefined }

/** The first account; made with test money and a `deploy` token when there is none yet. */
export async function firstAccount(state: State): Promise<FirstAccount> {
  const { rows } = await state.query<{ id: string }>(
    "select id from accounts where id <> 'nobody' order by created_at, id limit 1",
  )
  if (rows[0] !== undefined) return { account: rows[0].id, token: undefined }
  return await state.transaction(async (transaction) => {
    const account = await createAccount(transaction, 'test')
    await transaction.query("select grant_funds($1, $2, 'test', $3, 'test_funds')", [
      account,
      TEST_FUNDS_PUSD.toString(),
      LOT_PRIORITY,
    ])
    const details = { name: 'first token', scope: 'deploy' } as const
    const member = await firstOwner(transaction, account)
    const token = await createToken(transaction, { account, member, ...details })
    const act = { action: 'token.create', target: token.id, details }
    await recordOperatorAct(transaction, account, act)
    return { account, token: token.text }
  })
}
