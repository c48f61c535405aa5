// /v1/tokens: create, list, rotate, revoke. A secret is in the reply to its creation and nowhere else.
import { printJoules, nj } from '#base/units.ts'
import { printEnergyPerDay } from '#contract/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import {
  OVERLAP_OWN_MIN_S,
  TOKEN_LIST_MAX,
  type TokenLimits,
  type TokenReply,
  type TokenRequest,
  type TokenRotation,
} from '#contract/tokens.ts'
import { readPage } from '#accounts/page.ts'
import { setTokenLimits } from '#accounts/token-limits.ts'
import type { Handled, Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import {
  changeToken,
  createToken,
  demandTokenRoom,
  endToken,
  rotateToken,
} from '#identity/tokens.ts'
import type { Queryable, State } from '#state/connect.ts'

type Deps = { readonly state: State }

const DAY_MS = 86_400_000

type Row = {
  id: string
  name: string
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

const SELECT = `select id, name, scope, hint, created_at, expires_at, revoked_at, exposed_at,
  coalesce(expires_at <= now(), false) as is_expired,
  (select to_at from charges where token = tokens.id order by account_seq desc limit 1) as last_used_at,
  requests_per_minute, (select nj_per_day::text from budgets where id = tokens.budget) as nj_per_day,
  budget_used_nj(tokens.budget)::text as used_nj
  from tokens`

const timeOf = (date: Date | null) => date?.toISOString() ?? null

const replyOf = (row: Row, who: Handled['who']): TokenReply => ({
  id: row.id,
  object: 'token',
  name: row.name,
  scope: row.scope,
  hint: row.hint,
  current: row.id === who?.token,
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

async function tokenOf(state: Queryable, id: string, who: Handled['who']): Promise<TokenReply> {
  const { rows } = await state.query<Row>(`${SELECT} where id = $1 and account = $2`, [
    id,
    who?.account,
  ])
  if (rows[0] === undefined) throw fault('token_not_found', `Could not find the token: "${id}"`)
  return replyOf(rows[0], who)
}

const known = (body: object, status = 200) => ({ kind: 'known', status, body: () => body }) as const

export const createTokenCreate =
  ({ state }: Deps): Handler<TokenRequest> =>
  async (call) =>
    await state.transaction(async (transaction) => {
      const { who, body } = call
      const { name, scope, expires_days: days, ...limits } = body
      const account = who?.account ?? ''
      await demandTokenRoom(transaction, account)
      const expiry = days === undefined ? {} : { expiresAt: new Date(Date.now() + days * DAY_MS) }
      const { id, text } = await createToken(transaction, { account, name, scope, ...expiry })
      await setTokenLimits(transaction, { id, account }, limits)
      const made = await tokenOf(transaction, id, who)
      const details = { name, scope, expires_at: made.expires_at, ...limits }
      await recordAct(transaction, call, { action: 'token.create', target: id, details })
      return known({ ...made, token: text }, 201)
    })

export const createTokenList =
  ({ state }: Deps): Handler =>
  async ({ who, query: queryOf }) => {
    const page = readPage(queryOf(), TOKEN_LIST_MAX)
    const { rows } = await state.query<Row>(
      `${SELECT} where account = $1 and id < $2 order by id desc limit $3`,
      [who?.account, page.before, page.limit + 1],
    )
    return known(page.listOf(rows, (row) => replyOf(row, who)))
  }

/**
 * The token of the request ends a little later: a revocation at once would cut the request before its answer. Until
 * then it may only read, so that nobody makes another token with it.
 */
const endingOf = (call: Handled, afterS: number) => {
  const { who, parameters } = call
  const id = parameters['token'] ?? ''
  const readsOnly = id === who?.token && afterS < OVERLAP_OWN_MIN_S
  return {
    account: who?.account ?? '',
    id,
    afterS: readsOnly ? OVERLAP_OWN_MIN_S : afterS,
    readsOnly,
    asker: call,
  }
}

export const createTokenUpdate =
  ({ state }: Deps): Handler<TokenLimits> =>
  async (call) => {
    const { who, parameters, body, signal } = call
    const token = { id: parameters['token'] ?? '', account: who?.account ?? '' }
    const change = async (transaction: Queryable) => {
      await recordAct(transaction, call, {
        action: 'token.update',
        target: token.id,
        details: body,
      })
      await setTokenLimits(transaction, token, body)
    }
    await changeToken(state, token, change, signal)
    return known(await tokenOf(state, token.id, who))
  }

export const createTokenRotate =
  ({ state }: Deps): Handler<TokenRotation> =>
  async (call) => {
    const ending = endingOf(call, call.body.overlap_s)
    const { id, text } = await rotateToken(state, ending, call.signal)
    const made = await tokenOf(state, id, call.who)
    const replaces = await tokenOf(state, ending.id, call.who)
    return known({ ...made, token: text, replaces }, 201)
  }

export const createTokenRevoke =
  ({ state }: Deps): Handler =>
  async (call) => {
    const ending = endingOf(call, 0)
    await endToken(state, ending, call.signal)
    return known(await tokenOf(state, ending.id, call.who))
  }
