// The operator's link for a member that has lost its passkeys and codes.
import { fault } from '#contract/errors.ts'
import type { ControlHandlers } from '#contract/control-operation.ts'
import type { PORTAL_CONTROL } from '#contract/portal/control.ts'
import { recordOperatorAct } from '#identity/audit.ts'
import { renewInvitation } from '#identity/member-changes.ts'
import { lockAccount } from '#identity/members.ts'
import type { Queryable, State } from '#state/connect.ts'
import { invitationUrl } from '#portal/invitation-url.ts'

export const LINK_DAYS = 1

export const recoverHandlers = (
  state: State,
  portalUrl: string | null,
): ControlHandlers<typeof PORTAL_CONTROL> => ({
  'member.recover': async ({ target }) => {
    if (portalUrl === null)
      throw fault('portal_off', 'Could not make the link: the service has no portal')
    return await state.transaction(async (transaction) => {
      const { id: member, account } = await memberOf(transaction, target)
      await lockAccount(transaction, account)
      const code = await renewInvitation(transaction, member, LINK_DAYS, 'passkey')
      const details = { expires_days: LINK_DAYS }
      const act = { action: 'member.recover', target: member, details }
      await recordOperatorAct(transaction, account, act)
      return { member, account, url: invitationUrl(portalUrl, code) }
    })
  },
})

/** Throws member_not_found. */
async function memberOf(
  state: Queryable,
  target: string,
): Promise<{ readonly id: string; readonly account: string }> {
  const { rows } = await state.query<{ id: string; account: string }>(
    `select id, account from members
     where state = 'active' and (id = $1 or account = $1 and role = 'owner')
       and not exists (select from account_deletions d where d.account = members.account)
     order by id limit 1`,
    [target],
  )
  if (rows[0] === undefined)
    throw fault(
      'member_not_found',
      `Could not find an active member or an account: "${target.slice(0, 100)}"`,
    )
  return rows[0]
}
