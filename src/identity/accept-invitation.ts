// The acceptance of an invitation: the member becomes active, if it is not yet, and gets a token, once.
import { fault } from '#contract/errors.ts'
import { FIRST_TOKEN_DAYS } from '#contract/accounts/members.ts'
import { RIGHTS } from '#contract/identity/roles.ts'
import type { Queryable } from '#state/connect.ts'
import { lockAccount, MEMBER_COLUMNS, type AccountMember } from './members.ts'
import { hashToken, isCodeText } from './token-text.ts'
import { createToken, demandTokenRoom, type MintedToken } from './tokens.ts'

const DAY_MS = 86_400_000
const FIRST_TOKEN = 'first token'

type Accepted = { readonly member: AccountMember; readonly token: MintedToken }
type Invited = AccountMember & {
  readonly has_expired: boolean
  readonly invitation_for: 'any' | 'passkey'
}

/** Throws as takeInvitation() does, and too_many_tokens; the code of a link for a passkey is no such code. */
export async function acceptInvitation(
  transaction: Queryable,
  code: string,
  nowMs: number,
): Promise<Accepted> {
  const invited = await takeInvitation(transaction, invitationHash(code))
  if (invited.invitation_for === 'passkey')
    throw fault(
      'invitation_not_found',
      'Could not accept the invitation: the code is that of a link to add a passkey at the portal',
    )
  await demandTokenRoom(transaction, invited.account)
  const token = await createToken(transaction, {
    account: invited.account,
    member: invited.id,
    name: FIRST_TOKEN,
    scope: RIGHTS[invited.role].scope,
    expiresAt: new Date(nowMs + FIRST_TOKEN_DAYS * DAY_MS),
  })
  return { member: invited, token }
}

/** By which a code is found, and kept until it is taken. Throws invitation_not_found for a text that is no code. */
export function invitationHash(code: string): Buffer {
  if (!isCodeText(code)) throw notFound()
  return hashToken(code)
}

/**
 * Uses a code up, by its hash, and makes its member active; returns the member as it was before, and locks the account. Throws
 * invitation_not_found, invitation_ended, account_deleting.
 */
export async function takeInvitation(transaction: Queryable, hash: Buffer): Promise<Invited> {
  const { account } = await invitedBy(transaction, hash)
  await lockAccount(transaction, account)
  // Somebody else may have accepted or withdrawn it meanwhile.
  const invited = await openInvitation(transaction, hash)
  await transaction.query(
    `update members set state = 'active', joined_at = coalesce(joined_at, now()), invitation_expires_at = null
     where id = $1`,
    [invited.id],
  )
  return invited
}

/** The member of a code, by its hash, that may still be accepted. Throws as takeInvitation() does. */
export async function openInvitation(state: Queryable, hash: Buffer): Promise<Invited> {
  const invited = await invitedBy(state, hash)
  demandOpen(invited)
  await demandKept(state, invited.account)
  return invited
}

async function invitedBy(state: Queryable, hash: Buffer): Promise<Invited> {
  const { rows } = await state.query<Invited>(
    `select ${MEMBER_COLUMNS}, invitation_for, invitation_expires_at <= now() as has_expired
     from members where invitation_hash = $1`,
    [hash],
  )
  if (rows[0] === undefined) throw notFound()
  return rows[0]
}

const notFound = () =>
  fault('invitation_not_found', 'Could not accept the invitation: no such code')

/** A deletion that was asked for may be taken back by those who are members already. */
async function demandKept(transaction: Queryable, account: string): Promise<void> {
  const { rowCount } = await transaction.query('select from account_deletions where account = $1', [
    account,
  ])
  if (rowCount > 0)
    throw fault('account_deleting', 'Could not accept the invitation: the account is being deleted')
}

function demandOpen({ state, invitation_expires_at: expiresAt, ...invited }: Invited): void {
  const ended = (why: string) =>
    fault('invitation_ended', `Could not accept the invitation: ${why}`)
  if (expiresAt === null) throw ended('it was accepted')
  if (state === 'removed') throw ended('it was withdrawn')
  if (invited.has_expired) throw ended(`it expired at ${expiresAt.toISOString()}`)
}
