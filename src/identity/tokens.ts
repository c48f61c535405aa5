// Makes, rotates and revokes tokens. A revocation returns only when no session can still honour the token, so "revoked
// at the next request" holds on every gateway.
import { newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import type { MemberRole } from '#contract/identity/roles.ts'
import { ACCOUNT_TOKENS_MAX } from '#contract/identity/token-limits.ts'
import {
  askingMember,
  demandRole,
  demandUnbound,
  lockAccount,
  rolesThat,
  type AskingMember,
} from './members.ts'
import type { Queryable, State } from '#state/connect.ts'
import { recordAct, recordOperatorAct, type ActingCall } from './audit.ts'
import { noteCredentialChange, untilHeard } from './credential-changes.ts'
import { hashToken, hintOf, mintToken } from './token-text.ts'

export type MintedToken = { readonly id: string; readonly text: string }

/**
 * Makes a token. `expiresAt` is optional; the text is returned here and nowhere else. Throws account_deleting where the
 * removal of the account has begun: its tokens have ended, and none may bring it back.
 */
export async function createToken(
  state: Queryable,
  token: { account: string; member: string; name: string; scope: Scope; expiresAt?: Date },
): Promise<MintedToken> {
  const text = mintToken()
  const id = newId('tok')
  const { rowCount } = await state.query(
    `insert into tokens (id, account, member, hash, hint, name, scope, expires_at)
     select $1, $2, $3, $4, $5, $6, $7, $8
     where not exists (select from account_deletions where account = $2 and begun_at is not null)`,
    [
      id,
      token.account,
      token.member,
      hashToken(text),
      hintOf(text),
      token.name,
      token.scope,
      token.expiresAt ?? null,
    ],
  )
  if (rowCount === 0)
    throw fault('account_deleting', 'Could not create the token: the account is being deleted')
  return { id, text }
}

/** Throws too_many_tokens where the account has no room for another valid token; nobody else adds one meanwhile. */
export async function demandTokenRoom(transaction: Queryable, account: string): Promise<void> {
  await lockAccount(transaction, account)
  const { rowCount } = await transaction.query(
    `select from tokens where account = $1 and not is_session and revoked_at is null
       and (expires_at is null or expires_at > now()) limit $2`,
    [account, ACCOUNT_TOKENS_MAX],
  )
  if (rowCount === ACCOUNT_TOKENS_MAX)
    throw fault(
      'too_many_tokens',
      `Could not create the token: an account has at most ${ACCOUNT_TOKENS_MAX} that are valid`,
    )
}

/**
 * Revokes a token and waits until every live session has heard of it or has ended: at most 2 s, the
 * life of a session that is cut off. Throws not_found when there is no such token.
 */
export async function revokeToken(state: State, id: string, signal: AbortSignal): Promise<void> {
  const epoch = await state.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ account: string }>(REVOKE, [id])
    if (rows[0] === undefined)
      throw fault('not_found', `Could not revoke the token: no token "${id}"`)
    await recordOperatorAct(transaction, rows[0].account, { action: 'token.revoke', target: id })
    return await noteCredentialChange(transaction, id, rows[0].account)
  })
  await untilHeard(state, epoch, signal)
}

/**
 * Changes a valid token as endToken() ends one, and waits until every live session knows of it. Throws the same.
 */
export async function changeToken(
  state: State,
  token: Pick<EndingToken, 'id' | 'call'>,
  change: (transaction: Queryable) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const epoch = await state.transaction(async (transaction) => {
    demandUnbound(await askingMember(transaction, token.call), 'change the token')
    const { account } = await tokenToChange(transaction, token, 'change')
    await change(transaction)
    // A change of the account makes sessions read the token again, and cuts no request.
    return await noteCredentialChange(transaction, null, account)
  })
  await untilHeard(state, epoch, signal)
}

/** A token that is to end: at once, or after some seconds, so that its running requests go on. */
export type EndingToken = {
  readonly id: string
  readonly afterS: number
  readonly call: ActingCall
}

/**
 * Ends a token of the member that asks, or of one whom that member may change, and waits as revokeToken() does. Throws
 * token_not_found for a token that is not the account's, or has ended before; role_missing.
 */
export async function endToken(
  state: State,
  ending: EndingToken,
  signal: AbortSignal,
): Promise<void> {
  const epoch = await state.transaction(async (transaction) => {
    const { account } = await tokenToChange(transaction, ending, 'revoke')
    await recordAct(transaction, ending.call, { action: 'token.revoke', target: ending.id })
    return await end(transaction, ending, account)
  })
  await untilHeard(state, epoch, signal)
}

/**
 * Makes a token with the name, scope, expiry and limits of another one of the member that asks, and ends that one as
 * endToken() does. Throws not_own_token, and too_many_tokens where both are valid for a while and the account has no room
 * for both.
 */
export async function rotateToken(
  state: State,
  ending: EndingToken,
  signal: AbortSignal,
): Promise<MintedToken> {
  const { made, epoch } = await state.transaction(async (transaction) => {
    const asking = await askingMember(transaction, ending.call)
    const { role: _, expires_at: expiresAt, ...kept } = await validToken(transaction, ending)
    demandOwn(asking, { id: ending.id, member: kept.member, own: ending.call.caller?.token })
    if (ending.afterS > 0) await demandTokenRoom(transaction, kept.account)
    const expiry = expiresAt === null ? {} : { expiresAt }
    const made = await createToken(transaction, { ...kept, ...expiry })
    await takeLimits(transaction, { from: ending.id, to: made.id })
    const details = { replaced_by: made.id, overlap_s: ending.afterS }
    const act = { action: 'token.rotate', target: ending.id, details }
    await recordAct(transaction, ending.call, act)
    return { made, epoch: await end(transaction, ending, kept.account) }
  })
  await untilHeard(state, epoch, signal)
  return made
}

/**
 * Throws not_own_token: the secret of the new token goes to the caller. A token that is bound would get another one's
 * without its limits.
 */
function demandOwn(
  asking: AskingMember,
  {
    id,
    member,
    own,
  }: { readonly id: string; readonly member: string; readonly own?: string | undefined },
): void {
  if (member !== asking.id)
    throw fault('not_own_token', `Could not rotate the token: it is of "${member}"`)
  if (id !== own && asking.is_bound)
    throw fault(
      'not_own_token',
      'Could not rotate the token: one that has limits, or is below "billing-admin", rotates itself alone',
    )
}

/** A valid token of the member that asks, or of one whom that member may change; locks the account. */
async function tokenToChange(
  transaction: Queryable,
  token: Pick<EndingToken, 'id' | 'call'>,
  what: 'revoke' | 'change',
): Promise<ValidToken> {
  const asking = await askingMember(transaction, token.call)
  const valid = await validToken(transaction, token)
  if (valid.member !== asking.id)
    demandRole(asking, rolesThat('changes', valid.role), `${what} the token of another member`)
  return valid
}

type ValidToken = {
  account: string
  member: string
  role: MemberRole
  name: string
  scope: Scope
  expires_at: Date | null
}

/** A valid token of the account that asks. */
async function validToken(
  state: Queryable,
  { id, call }: Pick<EndingToken, 'id' | 'call'>,
): Promise<ValidToken> {
  const { rows } = await state.query<ValidToken>(
    `select t.account, t.member, m.role, t.name, t.scope, t.expires_at
     from tokens t join members m on m.id = t.member
     where t.id = $1 and t.account = $2 and not t.is_session and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
     for no key update of t`,
    [id, call.caller?.account],
  )
  if (rows[0] === undefined)
    throw fault('token_not_found', `Could not find a valid token: "${id.slice(0, 100)}"`)
  return rows[0]
}

/** Gives a token a share in the rate of another one and in its energy budget. */
export async function takeLimits(
  transaction: Queryable,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  await transaction.query(TAKE_LIMITS, [to, from])
}

const TAKE_LIMITS = `update tokens t set requests_per_minute = o.requests_per_minute,
  rate_key = coalesce(o.rate_key, o.id), budget = o.budget
  from tokens o where t.id = $1 and o.id = $2`
const REVOKE =
  'update tokens set revoked_at = coalesce(revoked_at, now()) where id = $1 returning account'
const EXPIRE =
  'update tokens set expires_at = least(expires_at, now() + make_interval(secs => $2)) where id = $1'

async function end(
  state: Queryable,
  { id, afterS, call }: EndingToken,
  account: string,
): Promise<string> {
  if (afterS === 0) await state.query(REVOKE, [id])
  else await state.query(EXPIRE, [id, afterS])
  // A change of the account makes sessions ask for the token again, and cuts no request. The requests of a token that
  // stays valid for a while go on, and so does this one: its answer has to reach its caller.
  const isCut = afterS === 0 && id !== call.caller?.token
  return await noteCredentialChange(state, isCut ? id : null, account)
}
