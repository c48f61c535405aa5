// The row of a token, and the token as its account sees it. A secret is in the reply to its creation and nowhere else.
import { printJoules, nj } from '#base/units.ts'
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import type { TokenReply } from '#contract/identity/tokens.ts'
import type { Principal } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'

type TokenReader = Pick<Principal, 'account' | 'token'>

export type TokenReplyRow = {
  id: string
  name: string
  member: string
  member_name: string
  scope: Scope
  hint: string
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  exposed_at: Date | null
  last_used_at: Date | null
  is_expired: boolean
  requests_per_minute: number | null
  nj_per_day: string | null
  used_nj: string
}

export const TOKEN_SELECT = `select t.id, t.name, t.member, m.name as member_name, t.scope, t.hint, t.created_at, t.expires_at,
  t.revoked_at, t.exposed_at, coalesce(t.expires_at <= now(), false) as is_expired,
  token_last_used(t.id) as last_used_at,
  t.requests_per_minute, (select nj_per_day::text from budgets where id = t.budget) as nj_per_day,
  budget_used_nj(t.budget)::text as used_nj
  from tokens t join members m on m.id = t.member`

const timeOf = (date: Date | null) => date?.toISOString() ?? null

/** The row of a token as `who` sees it. */
export const tokenRowReply = (row: TokenReplyRow, caller: TokenReader): TokenReply => ({
  id: row.id,
  object: 'token',
  name: row.name,
  member: { id: row.member, name: row.member_name },
  scope: row.scope,
  hint: row.hint,
  current: row.id === caller.token,
  status: row.revoked_at !== null ? 'revoked' : row.is_expired ? 'expired' : 'valid',
  created_at: row.created_at.toISOString(),
  expires_at: timeOf(row.expires_at),
  revoked_at: timeOf(row.revoked_at),
  last_used_at: timeOf(row.last_used_at),
  exposed_at: timeOf(row.exposed_at),
  requests_per_minute: row.requests_per_minute,
  energy_budget: row.nj_per_day === null ? null : printEnergyPerDay(nj(BigInt(row.nj_per_day))),
  energy_budget_used_j:
    row.nj_per_day === null ? null : Number(printJoules(nj(BigInt(row.used_nj)))),
})

/** A token as its account sees it. Throws token_not_found. */
export async function tokenReplyOf(
  state: Queryable,
  id: string,
  caller: TokenReader,
): Promise<TokenReply> {
  const { rows } = await state.query<TokenReplyRow>(
    `${TOKEN_SELECT} where t.id = $1 and t.account = $2`,
    [id, caller.account],
  )
  if (rows[0] === undefined) throw fault('token_not_found', `Could not find the token: "${id}"`)
  return tokenRowReply(rows[0], caller)
}
