// POST /v1/sign-up/options: what a browser asks a new passkey for, for a new account or for the member of an invitation.
import { newId } from '#base/ids.ts'
import type { InvitedMember, SignUpOptions } from '#contract/portal/portal.ts'
import type { Handler } from '#http/reply.ts'
import { invitationHash, openInvitation } from '#identity/accept-invitation.ts'
import type { AccountMember } from '#identity/members.ts'
import type { Queryable } from '#state/connect.ts'
import { demandJoinable, isCounted, signUpClosed } from '#portal/joinable.ts'
import type { PortalParts } from '#portal/parts.ts'
import { demandPasskeyRoom, passkeysOf } from '#portal/passkeys.ts'
import { demandSignUp } from '#portal/sign-up-pace.ts'

export function createSignUpBegin(parts: PortalParts): Handler<SignUpOptions> {
  const { state, challenges, webauthn, pace, signUp } = parts
  return async (call) => {
    const { name, invitation } = call.body
    pace.take(call, 'options')
    const asker = pace.askerOf(call)
    if (invitation === undefined) {
      if (signUp !== 'open') throw signUpClosed('accounts are made by invitation')
      if (isCounted(parts)) await demandSignUp(state, asker.name)
      const facts = { member: newId('mem'), name: name ?? '' }
      const options = await webauthn.registrationOptions({ id: facts.member, name: facts.name }, [])
      return await challenges.ask('sign-up', call, { asker, options, facts })
    }
    const hash = invitationHash(invitation)
    const member = await openInvitation(state, hash)
    demandJoinable(parts, member)
    const known = await passkeysOf(state, member.id)
    demandPasskeyRoom(known)
    const asked = await webauthn.registrationOptions(member, known)
    const options = { ...asked, invited: await invitedOf(state, member) }
    const facts = { member: member.id, invitationHash: hash.toString('hex') }
    return await challenges.ask('sign-up', call, { asker, options, facts })
  }
}

async function invitedOf(
  state: Queryable,
  { account, name, role, state: status }: AccountMember,
): Promise<InvitedMember> {
  const { rows } = await state.query<{ name: string | null; owner: string | null }>(
    `select name, (select m.name from members m where m.account = a.id and m.role = 'owner' and m.state = 'active'
       order by m.joined_at, m.id limit 1) as owner
     from accounts a where id = $1`,
    [account],
  )
  return {
    account_id: account,
    account_name: rows[0]?.name ?? null,
    account_owner: rows[0]?.owner ?? null,
    name,
    role,
    is_active: status === 'active',
  }
}
