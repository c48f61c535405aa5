// PATCH /v1/members/{id or me}: name, contact and role.
import { askedMemberReply, memberToChange } from '#accounts/asked-member.ts'
import type { MemberChange } from '#contract/accounts/members.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { changeMember } from '#identity/member-changes.ts'
import { demandRole, rolesThat } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

/** Tokens above a new role are refused by every gateway when the answer comes. */
export const createMemberUpdate =
  ({ state }: Deps): Handler<MemberChange> =>
  async (call) => {
    const { token: ownToken } = callerOf(call)
    const { body: change } = call
    const { id, epoch } = await state.transaction(async (transaction) => {
      const { member, asking } = await memberToChange(transaction, call)
      const { role = member.role } = change
      if (role !== member.role)
        demandRole(asking, rolesThat('gives', role), `give the role ${role}`)
      const { id } = member
      await recordAct(transaction, call, { action: 'member.update', target: id, details: change })
      return { id, epoch: await changeMember(transaction, member, { change, ownToken }) }
    })
    if (epoch !== undefined) await untilHeard(state, epoch, call.signal)
    return known(await askedMemberReply(state, call, id))
  }
