// The way into the portal for the owner of the first account, which has no passkey after the first start: a link that a start
// prints until there is one. It lets in once.
import { recordOperatorAct } from '#identity/audit.ts'
import { renewInvitation } from '#identity/member-changes.ts'
import { firstOwner, lockAccount } from '#identity/members.ts'
import type { State } from '#state/connect.ts'
import { LINK_DAYS } from './control/recover.ts'
import { invitationUrl } from './invitation-url.ts'

/** Undefined where a member of the account has a passkey, or where there is no portal. */
export async function ownerLink(
  state: State,
  account: string,
  portalUrl: string | null,
): Promise<string | undefined> {
  if (portalUrl === null) return undefined
  return await state.transaction(async (transaction) => {
    await lockAccount(transaction, account)
    const { rowCount } = await transaction.query(
      `select from passkeys where account = $1
       union all select from account_deletions where account = $1 limit 1`,
      [account],
    )
    if (rowCount > 0) return undefined
    const member = await firstOwner(transaction, account)
    const code = await renewInvitation(transaction, member, LINK_DAYS, 'passkey')
    const act = { action: 'member.recover', target: member, details: { expires_days: LINK_DAYS } }
    await recordOperatorAct(transaction, account, act)
    return invitationUrl(portalUrl, code)
  })
}
