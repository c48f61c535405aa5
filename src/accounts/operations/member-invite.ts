// POST /v1/members: invites a member with a code.
import { invitedReplyOf } from '#accounts/asked-member.ts'
import type { MemberInvitation } from '#contract/accounts/members.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { demandMemberRoom, inviteMember } from '#identity/member-changes.ts'
import { askingMember, demandRole, demandUnbound, rolesThat } from '#identity/members.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createMemberInvite =
  ({ state }: Deps): Handler<MemberInvitation> =>
  async (call) =>
    await state.transaction(async (transaction) => {
      const { expires_days: days, ...asked } = call.body
      const asking = await askingMember(transaction, call)
      demandRole(asking, rolesThat('gives', asked.role), `invite a member of role ${asked.role}`)
      demandUnbound(asking, 'give a code for another token')
      const { account } = asking
      await demandMemberRoom(transaction, account)
      const { id, code } = await inviteMember(transaction, { account, days, ...asked })
      const act = { action: 'member.invite', target: id, details: call.body }
      await recordAct(transaction, call, act)
      return known(await invitedReplyOf(transaction, call, { id, code }), 201)
    })
