// POST /v1/members/{id}/invitation: a new code for an invited member.
import { invitedReplyOf, memberToChange } from '#accounts/asked-member.ts'
import type { MemberReinvitation } from '#contract/accounts/members.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { renewInvitation } from '#identity/member-changes.ts'
import { demandUnbound } from '#identity/members.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createMemberReinvite =
  ({ state }: Deps): Handler<MemberReinvitation> =>
  async (call) =>
    await state.transaction(async (transaction) => {
      const { member, asking } = await memberToChange(transaction, call)
      demandUnbound(asking, 'give a code for another token')
      const { id } = member
      const code = await renewInvitation(transaction, id, call.body.expires_days)
      const act = { action: 'member.reinvite', target: id, details: call.body }
      await recordAct(transaction, call, act)
      return known(await invitedReplyOf(transaction, call, { id, code }), 201)
    })
