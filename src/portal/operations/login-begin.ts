// POST /v1/logins: a command line asks for a token, which a person approves at the portal.
import { fault } from '#contract/errors.ts'
import { LOGIN_INTERVAL_S, type LoginBegun, type LoginRequest } from '#contract/portal/portal.ts'
import { known, type Handler } from '#http/reply.ts'
import { beginLogin } from '#portal/logins.ts'
import type { LoginParts } from '#portal/parts.ts'

export const createLoginBegin =
  ({ state, pace, portalUrl, ownPorts }: LoginParts): Handler<LoginRequest> =>
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
      // Where there is no redirect, the person types the code that the terminal shows: a link would approve unseen
      // codes.
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
