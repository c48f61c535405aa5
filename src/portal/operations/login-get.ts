// GET /v1/logins/{id}, for the person who is to approve the login: which command line asks, and from where.
import { present } from '#base/errors.ts'
import type { LoginReply } from '#contract/portal/portal.ts'
import { known, type Handler } from '#http/reply.ts'
import { waitingLogin } from '#portal/logins.ts'
import type { PortalParts } from '#portal/parts.ts'

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
