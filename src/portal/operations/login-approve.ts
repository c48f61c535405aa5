// POST /v1/logins/{id}/approve: a person at the portal gives the command line a token of up to the member's own scope.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { permits } from '#contract/operation.ts'
import type { LoginApproval, LoginApproved } from '#contract/portal/portal.ts'
import { RIGHTS } from '#contract/identity/roles.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { askingMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { approveLogin, waitingLogin } from '#portal/logins.ts'
import type { PortalParts } from '#portal/parts.ts'

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
