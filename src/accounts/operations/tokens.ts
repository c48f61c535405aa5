// /v1/tokens: create, list, rotate, revoke. A secret is in the reply to its creation and nowhere else.
import { printJoules, nj } from '#base/units.ts'
import { printEnergyPerDay } from '#contract/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import { permits, type Scope } from '#contract/operation.ts'
import {
  type TokenLimits,
  type TokenReply,
  type TokenRequest,
  type TokenRotation,
} from '#contract/tokens.ts'
import { setTokenLimits } from '#accounts/token-limits.ts'
import { idCursor, readListPage } from '#http/list-page.ts'
import { known, type OperationCall, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { askingMember, demandUnbound, type AskingMember } from '#identity/members.ts'
import { callerOf, scopeMissing, type Principal } from '#identity/principal.ts'
import {
  changeToken,
  createToken,
  demandTokenRoom,
  endToken,
  rotateToken,
  takeLimits,
} from '#identity/tokens.ts'
import type { Queryable, State } from '#state/connect.ts'

type Deps = { readonly state: State }
type TokenReader = Pick<Principal, 'account' | 'token'>

const CURSOR = idCursor('tok')
const DAY_MS = 86_400_000

type Row = {
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

const SELECT = `select t.id, t.name, t.member, m.name as member_name, t.scope, t.hint, t.created_at, t.expires_at,
  t.revoked_at, t.exposed_at, coalesce(t.expires_at <= now(), false) as is_expired,
  token_last_used(t.id) as last_used_at,
  t.requests_per_minute, (select nj_per_day::text from budgets where id = t.budget) as nj_per_day,
  budget_used_nj(t.budget)::text as used_nj
  from tokens t join members m on m.id = t.member`

const timeOf = (date: Date | null) => date?.toISOString() ?? null

const replyOf = (row: Row, who: TokenReader): TokenReply => ({
  id: row.id,
  object: 'token',
  name: row.name,
  member: { id: row.member, name: row.member_name },
  scope: row.scope,
  hint: row.hint,
  current: row.id === who.token,
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
  who: TokenReader,
): Promise<TokenReply> {
  const { rows } = await state.query<Row>(`${SELECT} where t.id = $1 and t.account = $2`, [
    id,
    who.account,
  ])
  if (rows[0] === undefined) throw fault('token_not_found', `Could not find the token: "${id}"`)
  return replyOf(rows[0], who)
}

export const createTokenCreate =
  ({ state }: Deps): Handler<TokenRequest> =>
  async (call) =>
    await state.transaction(async (transaction) => {
      const { name, scope, expires_days: days, ...limits } = call.body
      const asking = await askingMember(transaction, call)
      demandWithin(asking, { scope, limits })
      const { id: member, account } = asking
      await demandTokenRoom(transaction, account)
      const expiresAt = expiryOf(asking, days)
      const expiry = expiresAt === undefined ? {} : { expiresAt }
      const { id, text } = await createToken(transaction, {
        account,
        member,
        name,
        scope,
        ...expiry,
      })
      if (asking.is_bound) await takeLimits(transaction, { from: callerOf(call.who).token, to: id })
      else await setTokenLimits(transaction, { id, account }, limits)
      const made = await tokenReplyOf(transaction, id, callerOf(call.who))
      const details = { name, scope, expires_at: made.expires_at, ...limits }
      await recordAct(transaction, call, { action: 'token.create', target: id, details })
      return known({ ...made, token: text }, 201)
    })

/**
 * Throws scope_missing: nobody makes a token above the own one. A token that is bound sets no limits and hands its own on,
 * so that nobody gets rid of them.
 */
function demandWithin(
  asking: AskingMember,
  { scope, limits }: { readonly scope: Scope; readonly limits: TokenLimits },
): void {
  if (Object.keys(limits).length > 0) demandUnbound(asking, 'set limits')
  if (!permits(asking.scope, scope)) throw scopeMissing('Could not create the token', asking, scope)
}

/** A token that is bound hands its end on too: nobody makes an eternal token of a short-lived one. */
function expiryOf(
  { is_bound: isBound, expires_at: own }: AskingMember,
  days?: number,
): Date | undefined {
  const ends = days === undefined ? [] : [Date.now() + days * DAY_MS]
  if (isBound && own !== null) ends.push(own.getTime())
  return ends.length === 0 ? undefined : new Date(Math.min(...ends))
}

export const createTokenList =
  ({ state }: Deps): Handler =>
  async (call) => {
    const who = callerOf(call.who)
    const page = readListPage(call.query(), CURSOR.form)
    const { rows } = await state.query<Row>(
      `${SELECT} where t.account = $1 and not t.is_session and t.id < $2 order by t.id desc limit $3`,
      [who.account, page.cursor?.[0] ?? CURSOR.end, page.rowsMax],
    )
    return known(
      page.list(
        rows,
        (row) => replyOf(row, who),
        ({ id }) => id,
      ),
    )
  }

const endingOf = (call: OperationCall, afterS: number) => ({
  id: call.parameters['token'] ?? '',
  afterS,
  asker: call,
})

export const createTokenUpdate =
  ({ state }: Deps): Handler<TokenLimits> =>
  async (call) => {
    const who = callerOf(call.who)
    const token = { id: call.parameters['token'] ?? '', account: who.account }
    const change = async (transaction: Queryable) => {
      const act = { action: 'token.update', target: token.id, details: call.body }
      await recordAct(transaction, call, act)
      await setTokenLimits(transaction, token, call.body)
    }
    await changeToken(state, { id: token.id, asker: call }, change, call.signal)
    return known(await tokenReplyOf(state, token.id, who))
  }

export const createTokenRotate =
  ({ state }: Deps): Handler<TokenRotation> =>
  async (call) => {
    const ending = endingOf(call, call.body.overlap_s)
    const { id, text } = await rotateToken(state, ending, call.signal)
    const made = await tokenReplyOf(state, id, callerOf(call.who))
    const replaces = await tokenReplyOf(state, ending.id, callerOf(call.who))
    return known({ ...made, token: text, replaces }, 201)
  }

export const createTokenRevoke =
  ({ state }: Deps): Handler =>
  async (call) => {
    const ending = endingOf(call, 0)
    await endToken(state, ending, call.signal)
    return known(await tokenReplyOf(state, ending.id, callerOf(call.who)))
  }
