// /v1/logins: a command line asks for a token, a person approves it at the portal, the command line takes it once.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { permits } from '#contract/operation.ts'
import {
  LOGIN_INTERVAL_S,
  LOGIN_TOKEN_DAYS,
  type LoginApproval,
  type LoginApproved,
  type LoginBegun,
  type LoginFinished,
  type LoginRedemption,
  type LoginReply,
  type LoginRequest,
} from '#contract/portal/portal.ts'
import { RIGHTS } from '#contract/identity/roles.ts'
import { known, type OperationCall, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { askingMember, findMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { createToken, demandTokenRoom } from '#identity/tokens.ts'
import type { Clock } from '#base/clock.ts'
import type { Queryable, State } from '#state/connect.ts'
import {
  approveLogin,
  beginLogin,
  loginNotFound,
  takeLogin,
  waitingLogin,
  type ApprovedLogin,
} from '#portal/logins.ts'
import type { PortalParts } from '#portal/parts.ts'
import type { StrangerPace } from '#portal/pace.ts'

const DAY_MS = 86_400_000

type ApiParts = {
  readonly state: State
  readonly pace: StrangerPace
  readonly clock: Pick<Clock, 'wallMs'>
  /** Undefined where the service has no portal. */
  readonly portalUrl: string | undefined
  /** All ports of the installation. */
  readonly ownPorts: readonly number[]
}

export const createLoginBegin =
  ({ state, pace, portalUrl, ownPorts }: ApiParts): Handler<LoginRequest> =>
  async (call) => {
    pace.take(call, 'logins')
    if (portalUrl === undefined)
      throw fault('portal_off', 'Could not begin the login: there is no portal to approve it')
    demandForeignPort(call.body, ownPorts)
    const row = await beginLogin(state, call.body, pace.addressOf(call))
    const reply: LoginBegun = {
      id: row.id,
      object: 'login',
      user_code: row.user_code,
      // Without a redirect the person types the code that the terminal shows: a link would approve unseen codes.
      approve_url: `${portalUrl}/login/approve${row.redirect_port === null ? '' : `?login=${row.id}`}`,
      expires_at: row.expires_at.toISOString(),
      interval_s: LOGIN_INTERVAL_S,
    }
    return known(reply, 201)
  }

/**
 * A code that the browser brought to the installation itself would stand in one of its logs, such as the access log of a
 * bucket `callback`. Throws invalid_request.
 */
function demandForeignPort(
  { redirect_port: port }: LoginRequest,
  ownPorts: readonly number[],
): void {
  if (port !== undefined && ownPorts.includes(port))
    throw fault(
      'invalid_request',
      `Could not begin the login: port ${port} is one of this service, and the browser would bring the code there`,
      { param: 'redirect_port' },
    )
}

export const createLoginGet =
  ({ state }: PortalParts): Handler =>
  async ({ parameters }) => {
    const row = await waitingLogin(state, present(parameters['login'], 'the path has the login'))
    const { id, user_code, name, address, scope } = row
    const expires_at = row.expires_at.toISOString()
    return known({
      id,
      object: 'login',
      user_code,
      name,
      address,
      scope,
      expires_at,
    } satisfies LoginReply)
  }

export const createLoginApprove =
  ({ state }: PortalParts): Handler<LoginApproval> =>
  async (call) => {
    const { role } = callerOf(call)
    const { scope } = call.body
    if (!permits(RIGHTS[role].scope, scope))
      throw fault(
        'scope_missing',
        `Could not approve the login: the role "${role}" gives tokens up to "${RIGHTS[role].scope}"`,
      )
    const redirect_url = await state.transaction(async (transaction) => {
      const { id: member, account } = await askingMember(transaction, call)
      const row = await waitingLogin(
        transaction,
        present(call.parameters['login'], 'the path has the login'),
      )
      const details = { name: row.name, address: row.address, scope }
      await recordAct(transaction, call, { action: 'login.approve', target: row.id, details })
      return await approveLogin(transaction, row, { account, member, scope })
    })
    return known({ approved: true, redirect_url } satisfies LoginApproved)
  }

export const createLoginFinish =
  ({ state, pace, clock }: ApiParts): Handler<LoginRedemption> =>
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
