// The member that a path of /v1/members names, the right to change that member, and the replies.
import type { InvitedReply, MemberReply } from '#contract/accounts/members.ts'
import { fault } from '#contract/errors.ts'
import type { OperationCall } from '#http/reply.ts'
import {
  askingMember,
  demandRole,
  findMember,
  rolesThat,
  type AskingMember,
  type AccountMember,
} from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'

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

/** The member that a path names; `me` is the member of the token. */
export function namedMember(call: OperationCall): string {
  const id = call.parameters['member'] ?? ''
  return id === 'me' ? callerOf(call).member : id
}

/** A member of the account as the asking member sees it. Throws member_not_found. */
export async function askedMemberReply(
  state: Queryable,
  call: OperationCall,
  id: string,
): Promise<MemberReply> {
  const { account, member } = callerOf(call)
  return memberReplyOf(await findMember(state, account, id), member)
}

/** An invited member with the code, which is in no other reply. */
export const invitedReplyOf = async (
  state: Queryable,
  call: OperationCall,
  { id, code }: { readonly id: string; readonly code: string },
): Promise<InvitedReply> => ({
  ...(await askedMemberReply(state, call, id)),
  invitation_code: code,
})

/**
 * The member that asks, and the one that the path names, whom it may change; locks the account. A member may change an
 * invitation whose role they may give. Throws member_not_found, role_missing.
 */
export async function memberToChange(
  transaction: Queryable,
  call: OperationCall,
): Promise<{ readonly asking: AskingMember; readonly member: AccountMember }> {
  const asking = await askingMember(transaction, call)
  const member = await findMember(transaction, asking.account, namedMember(call))
  if (member.state === 'removed')
    throw fault('member_not_found', `Could not change the member: "${member.id}" was removed`)
  const right = member.state === 'invited' ? 'gives' : 'changes'
  if (member.id !== asking.id)
    demandRole(asking, rolesThat(right, member.role), `change a member of role ${member.role}`)
  return { asking, member }
}
