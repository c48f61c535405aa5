// /v1/members: list, get, invite, reinvite, update, remove. `me` is the member of the token.
import {
  type InvitedReply,
  type MemberChange,
  type MemberInvitation,
  type MemberReinvitation,
  type MemberReply,
} from '#contract/members.ts'
import { idCursor, readListPage } from '#http/list-page.ts'
import { fault } from '#contract/errors.ts'
import { known, type OperationCall, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import {
  changeMember,
  demandMemberRoom,
  inviteMember,
  removeMember,
  renewInvitation,
} from '#identity/member-changes.ts'
import {
  askingMember,
  demandRole,
  demandUnbound,
  findMember,
  MEMBER_COLUMNS,
  rolesThat,
  type AskingMember,
  type AccountMember,
} from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { Queryable, State } from '#state/connect.ts'

type Deps = { readonly state: State }

const CURSOR = idCursor('mem')

/** A member as the member `current` sees it. */
export const memberReplyOf = (row: AccountMember, current: string): MemberReply => ({
  id: row.id,
  object: 'member',
  name: row.name,
  contact: row.contact,
  role: row.role,
  state: row.state,
  current: row.id === current,
  created_at: row.created_at.toISOString(),
  invitation_expires_at:
    row.state === 'removed' ? null : (row.invitation_expires_at?.toISOString() ?? null),
  joined_at: row.joined_at?.toISOString() ?? null,
  removed_at: row.removed_at?.toISOString() ?? null,
})

/** The member that a path names. */
function idOf(call: OperationCall): string {
  const id = call.parameters['member'] ?? ''
  return id === 'me' ? callerOf(call.who).member : id
}

async function replyOf(state: Queryable, call: OperationCall, id: string): Promise<MemberReply> {
  const { account, member } = callerOf(call.who)
  return memberReplyOf(await findMember(state, account, id), member)
}

export const createMemberList =
  ({ state }: Deps): Handler =>
  async (call) => {
    const { account, member } = callerOf(call.who)
    const page = readListPage(call.query(), CURSOR.form)
    const { rows } = await state.query<AccountMember>(
      `select ${MEMBER_COLUMNS} from members where account = $1 and id < $2 order by id desc limit $3`,
      [account, page.cursor?.[0] ?? CURSOR.end, page.rowsMax],
    )
    return known(
      page.list(
        rows,
        (row) => memberReplyOf(row, member),
        ({ id }) => id,
      ),
    )
  }

export const createMemberGet =
  ({ state }: Deps): Handler =>
  async (call) =>
    known(await replyOf(state, call, idOf(call)))

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

const invitedReplyOf = async (
  state: Queryable,
  call: OperationCall,
  { id, code }: { readonly id: string; readonly code: string },
): Promise<InvitedReply> => ({ ...(await replyOf(state, call, id)), invitation_code: code })

/** Tokens above a new role are refused by every gateway when the answer comes. */
export const createMemberUpdate =
  ({ state }: Deps): Handler<MemberChange> =>
  async (call) => {
    const { token: ownToken } = callerOf(call.who)
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
    return known(await replyOf(state, call, id))
  }

export const createMemberRemove =
  ({ state }: Deps): Handler =>
  async (call) => {
    const { id, epoch } = await state.transaction(async (transaction) => {
      const { member } = await memberToChange(transaction, call)
      const { id } = member
      const { name, role, state: was } = member
      const details = { name, role, state: was }
      await recordAct(transaction, call, { action: 'member.remove', target: id, details })
      return { id, epoch: await removeMember(transaction, member, callerOf(call.who).token) }
    })
    await untilHeard(state, epoch, call.signal)
    return known(await replyOf(state, call, id))
  }

/**
 * The member that asks, and the one that the path names, whom it may change; locks the account. A member may change an
 * invitation whose role they may give. Throws member_not_found, role_missing.
 */
async function memberToChange(
  transaction: Queryable,
  call: OperationCall,
): Promise<{ readonly asking: AskingMember; readonly member: AccountMember }> {
  const asking = await askingMember(transaction, call)
  const member = await findMember(transaction, asking.account, idOf(call))
  if (member.state === 'removed')
    throw fault('member_not_found', `Could not change the member: "${member.id}" was removed`)
  const right = member.state === 'invited' ? 'gives' : 'changes'
  if (member.id !== asking.id)
    demandRole(asking, rolesThat(right, member.role), `change a member of role ${member.role}`)
  return { asking, member }
}
