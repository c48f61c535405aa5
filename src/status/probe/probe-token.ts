// The token of the probe: of the operator's account, in its list of tokens, with a text that this process alone has. A new
// process gives the same token another text.
import { PROBE_NAME } from '#contract/status/probe-names.ts'
import { recordNodeAct, OPERATOR_ACCOUNT } from '#identity/operator-account.ts'
import { firstOwner } from '#identity/members.ts'
import { createToken } from '#identity/tokens.ts'
import { hashToken, hintOf, mintToken } from '#identity/token-text.ts'
import type { Queryable, State } from '#state/connect.ts'

export type ProbeToken = { readonly account: string; readonly text: string }

const RENEWED = `
  update tokens t set hash = $1, hint = $2, name = $4 from probe_token p
  where t.id = p.token and t.account = $3 and t.revoked_at is null`

/** Undefined while the node has no account, and once that one is being removed. */
export const openProbeToken = (state: State): Promise<ProbeToken | undefined> =>
  state.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ id: string }>(
      `select id from accounts where id = ${OPERATOR_ACCOUNT} and not exists (
         select from account_deletions d where d.account = accounts.id and d.begun_at is not null)`,
    )
    const account = rows[0]?.id
    if (account === undefined) return undefined
    const text = mintToken()
    const values = [hashToken(text), hintOf(text), account, PROBE_NAME]
    const { rowCount } = await transaction.query(RENEWED, values)
    return { account, text: rowCount === 0 ? await made(transaction, account) : text }
  })

async function made(transaction: Queryable, account: string): Promise<string> {
  const member = await firstOwner(transaction, account)
  const { id, text } = await createToken(transaction, {
    account,
    member,
    name: PROBE_NAME,
    scope: 'deploy',
  })
  await transaction.query(
    `insert into probe_token (token) values ($1) on conflict (is_one) do update set token = excluded.token`,
    [id],
  )
  await recordNodeAct(transaction, {
    action: 'token.create',
    target: id,
    details: { name: PROBE_NAME },
  })
  return text
}
