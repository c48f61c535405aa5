// Members of accounts: the member of a request, and the rights of its role. Changes of members and of tokens lock the
// account first and so see the changes before them: a removed member gets no token, and an account keeps an owner.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { Scope } from '#contract/operation.ts'
import { RIGHTS, ROLES, type MemberRole } from '#contract/identity/roles.ts'
import type { Queryable } from '#state/connect.ts'
import type { ActingCall } from './audit.ts'
import { tokenRefused } from './look-up.ts'

/** Until the transaction ends nobody else changes the account's members, tokens, cards or payments (account-lock.sql). */
export async function lockAccount(transaction: Queryable, account: string): Promise<void> {
  await transaction.query('select lock_account($1)', [account])
}

/** The member that asks. */
export type AskingMember = {
  readonly id: string
  readonly account: string
  readonly role: MemberRole
  /** The scope of the token of the request. */
  readonly scope: Scope
  /** The end of the token of the request. */
  readonly expires_at: Date | null
  /** True of a token below billing-admin, or with limits, but of no session: what it makes is bound as it is. */
  readonly is_bound: boolean
}

/** The member that asks, as it is now; locks the account. Throws token_revoked where its token has ended meanwhile. */
export async function askingMember(
  transaction: Queryable,
  { caller }: ActingCall,
): Promise<AskingMember> {
  const { account, token } = present(caller, 'a request of a token')
  await lockAccount(transaction, account)
  const { rows } = await transaction.query<AskingMember>(
    `select m.id, m.account, m.role, t.scope, t.expires_at,
       not t.is_session
         and (t.scope <> 'billing-admin' or t.budget is not null or t.requests_per_minute is not null) as is_bound
     from tokens t join members m on m.id = t.member
     where t.id = $1 and t.revoked_at is null`,
    [token],
  )
  if (rows[0] === undefined) throw tokenRefused('token_revoked')
  return rows[0]
}

/** Throws role_missing unless the member has one of `roles`; `what` could not be done then. */
export function demandRole(
  { role }: AskingMember,
  roles: readonly MemberRole[],
  what: string,
): void {
  if (!roles.includes(role))
    throw fault(
      'role_missing',
      `Could not ${what}: that is for a member of role ${roles.join(' or ')}, this one is "${role}"`,
    )
}

/** Throws scope_missing for a token that has limits, as those would bind nothing then. */
export function demandUnbound({ is_bound: isBound, scope }: AskingMember, what: string): void {
  if (isBound)
    throw fault(
      'scope_missing',
      `Could not ${what}: that needs a token of scope "billing-admin" without limits, this one has ${
        scope === 'billing-admin' ? 'limits' : `scope "${scope}"`
      }`,
    )
}

/** The roles whose members may give `role` to others, or may change members of `role`. */
export const rolesThat = (right: 'gives' | 'changes', role: MemberRole): MemberRole[] =>
  ROLES.filter((one) => RIGHTS[one][right].includes(role))

/** The id of the owner who has been there longest: the tokens that the operator makes are that owner's. */
export async function firstOwner(state: Queryable, account: string): Promise<string> {
  const { rows } = await state.query<{ id: string }>(
    `select id from members where account = $1 and role = 'owner' and state = 'active' order by id limit 1`,
    [account],
  )
  return present(rows[0], 'an account has an owner').id
}

export type AccountMember = {
  readonly id: string
  readonly account: string
  readonly name: string
  readonly contact: string | null
  readonly role: MemberRole
  readonly state: 'invited' | 'active' | 'removed'
  readonly created_at: Date
  readonly invitation_expires_at: Date | null
  readonly joined_at: Date | null
  readonly removed_at: Date | null
}

export const MEMBER_COLUMNS =
  'id, account, name, contact, role, state, created_at, invitation_expires_at, joined_at, removed_at'

/** A member of an account, removed or not. Throws member_not_found. */
export async function findMember(
  state: Queryable,
  account: string,
  id: string,
): Promise<AccountMember> {
  const { rows } = await state.query<AccountMember>(
    `select ${MEMBER_COLUMNS} from members where id = $1 and account = $2`,
    [id, account],
  )
  if (rows[0] === undefined)
    throw fault('member_not_found', `Could not find the member: "${id.slice(0, 100)}"`)
  return rows[0]
}
