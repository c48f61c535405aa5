// Changes of the members of an account. The caller has locked the account, and has asked whether the change is allowed.
import { fault } from '#contract/errors.ts'
import { MEMBERS_MAX, INVITATIONS_MAX } from '#contract/accounts/members.ts'
import { RIGHTS, type MemberRole } from '#contract/identity/roles.ts'
import type { Queryable } from '#state/connect.ts'
import type { AccountMember } from './members.ts'
import { newId } from '#base/ids.ts'
import { hashToken, mintCode } from './token-text.ts'
import { endTokensAbove } from './credential-changes.ts'

/** Throws too_many_members where the account has no room for another member or invitation. */
export async function demandMemberRoom(transaction: Queryable, account: string): Promise<void> {
  const { rows } = await transaction.query<{ members: number; invited: number }>(
    `select count(*)::int as members, (count(*) filter (where state = 'invited'))::int as invited
     from members where account = $1 and state <> 'removed'`,
    [account],
  )
  const { members = 0, invited = 0 } = rows[0] ?? {}
  if (members >= MEMBERS_MAX)
    throw fault(
      'too_many_members',
      `Could not invite the member: an account has at most ${MEMBERS_MAX} members`,
    )
  if (invited >= INVITATIONS_MAX)
    throw fault(
      'too_many_members',
      `Could not invite the member: at most ${INVITATIONS_MAX} invitations wait for an answer`,
    )
}

export type Invitation = { readonly id: string; readonly code: string }

/** Invites a member; the code is returned here and nowhere else. */
export async function inviteMember(
  transaction: Queryable,
  asked: {
    readonly account: string
    readonly name: string
    readonly role: MemberRole
    readonly contact?: string | undefined
    readonly days: number
  },
): Promise<Invitation> {
  const id = newId('mem')
  await transaction.query(
    `insert into members (id, account, name, role, contact, state) values ($1, $2, $3, $4, $5, 'invited')`,
    [id, asked.account, asked.name, asked.role, asked.contact ?? null],
  )
  return { id, code: await renewInvitation(transaction, id, asked.days) }
}

/** Gives a member a new code, in place of the one before; one for a passkey gives no token. */
export async function renewInvitation(
  transaction: Queryable,
  id: string,
  days: number,
  use: 'any' | 'passkey' = 'any',
): Promise<string> {
  const code = mintCode()
  await transaction.query(
    `update members set invitation_hash = $2, invitation_for = $4, invitation_expires_at = now() + make_interval(secs => $3::float8 * 86400)
     where id = $1`,
    [id, hashToken(code), days, use],
  )
  return code
}

export type MemberValues = {
  readonly name?: string | undefined
  readonly role?: MemberRole | undefined
  readonly contact?: string | null | undefined
}

/**
 * Changes a member. With another role its code ends and its tokens above that role are revoked, all but `ownToken` with what runs under
 * them; then the number of the change of credentials is returned. Throws last_owner.
 */
export async function changeMember(
  transaction: Queryable,
  member: AccountMember,
  { change, ownToken }: { readonly change: MemberValues; readonly ownToken: string },
): Promise<string | undefined> {
  const { name = member.name, role = member.role, contact = member.contact } = change
  if (role !== 'owner') await demandOtherOwner(transaction, member, 'change the role')
  await transaction.query('update members set name = $2, role = $3, contact = $4 where id = $1', [
    member.id,
    name,
    role,
    contact,
  ])
  if (role === member.role) return undefined
  await endInvitation(transaction, member)
  return await endTokensAbove(transaction, { member, ownToken, scope: RIGHTS[role].scope })
}

/** The giver of a code need not be allowed to give the new role. */
async function endInvitation(transaction: Queryable, { id }: AccountMember): Promise<void> {
  await transaction.query(
    'update members set invitation_hash = null, invitation_expires_at = null where id = $1',
    [id],
  )
}

/** Removes a member, or withdraws its invitation, and revokes its tokens as changeMember() does. Throws last_owner. */
export async function removeMember(
  transaction: Queryable,
  member: AccountMember,
  ownToken: string,
): Promise<string> {
  await demandOtherOwner(transaction, member, 'remove the member')
  await transaction.query(
    "update members set state = 'removed', removed_at = now() where id = $1",
    [member.id],
  )
  return await endTokensAbove(transaction, { member, ownToken, scope: null })
}

/** Throws last_owner where the member is the only active owner. */
async function demandOtherOwner(
  transaction: Queryable,
  { account, id, role, state }: AccountMember,
  what: string,
): Promise<void> {
  if (role !== 'owner' || state !== 'active') return
  const { rowCount } = await transaction.query(
    `select from members where account = $1 and role = 'owner' and state = 'active' and id <> $2 limit 1`,
    [account, id],
  )
  if (rowCount === 0)
    throw fault('last_owner', `Could not ${what}: "${id}" is the only owner of the account`)
}
