// DELETE /v1/members/{id or me}: removes a member, whose tokens end.
import { askedMemberReply, memberToChange } from '#accounts/asked-member.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { removeMember } from '#identity/member-changes.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createMemberRemove =
  ({ state }: Deps): Handler =>
  async (call) => {
    const { id, epoch } = await state.transaction(async (transaction) => {
      const { member } = await memberToChange(transaction, call)
      const { id } = member
      const { name, role, state: was } = member
      const details = { name, role, state: was }
      await recordAct(transaction, call, { action: 'member.remove', target: id, details })
      return { id, epoch: await removeMember(transaction, member, callerOf(call).token) }
    })
    await untilHeard(state, epoch, call.signal)
    return known(await askedMemberReply(state, call, id))
  }
