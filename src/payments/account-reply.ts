// The account of a caller, as GET and PATCH /v1/account print it.
import { findMember } from '#identity/members.ts'
import type { Principal } from '#identity/principal.ts'
import { accountRow } from './account-row.ts'
import type { Queryable } from '#state/connect.ts'

export async function accountReplyOf(state: Queryable, { account: id, ...caller }: Principal) {
  const { name, role } = await findMember(state, id, caller.member)
  const member = { id: caller.member, name, role }
  return { id, object: 'account', member, ...(await accountRow(state, id)) }
}
