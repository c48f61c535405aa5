// Opens a session for a member that a passkey or a recovery code has named.
import { fault } from '#contract/errors.ts'
import type { OperationCall } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { openBrowserSession } from '#identity/browser-sessions.ts'
import { findMember, lockAccount } from '#identity/members.ts'
import type { Queryable } from '#state/connect.ts'
import { clientOf, sessionReplyOf } from './session-reply.ts'

type SessionOpening = {
  readonly id: string
  readonly account: string
  readonly passkey: string | undefined
  readonly action: string
}

/** Opens a session of a member as it is now. Throws passkey_refused for one that was removed meanwhile. */
export async function openMemberSession(
  transaction: Queryable,
  call: Pick<OperationCall, 'headers' | 'spend'>,
  { id: of, account, passkey, action }: SessionOpening,
) {
  await lockAccount(transaction, account)
  const member = await findMember(transaction, account, of)
  if (member.state !== 'active')
    throw fault('passkey_refused', 'Could not sign in: the member was removed')
  const client = clientOf(call.headers)
  const { spend } = call
  const session = await openBrowserSession(transaction, { member, passkey, client, spend })
  const caller = { account, token: session.id }
  await recordAct(transaction, { caller, spend }, { action, target: member.id })
  return { ...session, reply: await sessionReplyOf(transaction, session.id) }
}
