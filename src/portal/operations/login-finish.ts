// POST /v1/logins/{id}/token: the command line takes its token, once.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { permits } from '#contract/operation.ts'
import {
  LOGIN_TOKEN_DAYS,
  type LoginFinished,
  type LoginRedemption,
} from '#contract/portal/portal.ts'
import { RIGHTS } from '#contract/identity/roles.ts'
import { known, type OperationCall, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { findMember } from '#identity/members.ts'
import { createToken, demandTokenRoom } from '#identity/tokens.ts'
import type { Queryable } from '#state/connect.ts'
import { loginNotFound, takeLogin, type ApprovedLogin } from '#portal/logins.ts'
import type { LoginParts } from '#portal/parts.ts'

const DAY_MS = 86_400_000

export const createLoginFinish =
  ({ state, pace, clock }: LoginParts): Handler<LoginRedemption> =>
  async (call) => {
    pace.take(call, 'logins')
    const id = present(call.parameters['login'], 'the path has the login')
    const { code_verifier: verifier, code } = call.body
    // One transaction: the login is used up by the token alone, or by a wrong answer.
    const reply = await state.transaction(async (transaction) => {
      const login = await takeLogin(transaction, id, { verifier, code })
      return login && (await tokenOf(transaction, call, login, clock.wallMs()))
    })
    if (reply === undefined) throw loginNotFound()
    return known(reply, 201)
  }

/** Makes the token of a login. Throws too_many_tokens, account_deleting, and login_not_found where the role allows it no more. */
async function tokenOf(
  transaction: Queryable,
  { spend }: Pick<OperationCall, 'spend'>,
  { account, member, ...login }: ApprovedLogin,
  nowMs: number,
): Promise<LoginFinished> {
  await demandTokenRoom(transaction, account)
  const { state, role } = await findMember(transaction, account, member)
  const scope = login.scope ?? RIGHTS[role].scope
  if (state !== 'active' || !permits(RIGHTS[role].scope, scope))
    throw fault('login_not_found', 'Could not log in: the member may not have the token now')
  const expiresAt = new Date(nowMs + LOGIN_TOKEN_DAYS * DAY_MS)
  const expires_at = expiresAt.toISOString()
  const name = `command line on ${login.name}`
  const made = await createToken(transaction, { account, member, name, scope, expiresAt })
  const caller = { account, token: made.id }
  const act = { action: 'token.create', target: made.id, details: { name, scope, expires_at } }
  await recordAct(transaction, { caller, spend }, act)
  return { account, member, token: { id: made.id, token: made.text, name, scope, expires_at } }
}
