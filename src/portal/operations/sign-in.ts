// POST /v1/sign-in/options and POST /v1/sign-in: any passkey of the portal opens a session. POST /v1/session/recover: a
// recovery code opens one that may add a passkey, and nothing else.
import { fault } from '#contract/errors.ts'
import type { Recovery, SignIn } from '#contract/portal/portal.ts'
import type { OperationCall, Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { openBrowserSession } from '#identity/browser-sessions.ts'
import { findMember, lockAccount } from '#identity/members.ts'
import type { Queryable } from '#state/connect.ts'
import type { PortalParts } from '#portal/parts.ts'
import { memberOfAssertion } from '#portal/passkeys.ts'
import { useRecoveryCode } from '#portal/recovery-codes.ts'
import { clientOf, openedReply, sessionReplyOf } from '#portal/session-reply.ts'

export const createSignInBegin =
  ({ challenges, webauthn, pace }: PortalParts): Handler =>
  async (call) => {
    pace.take(call, 'options')
    const options = await webauthn.assertionOptions()
    return await challenges.ask('sign-in', call, {
      asker: pace.askerOf(call),
      options,
      facts: {},
    })
  }

export function createSignInFinish(parts: PortalParts): Handler<SignIn> {
  const { state, challenges, webauthn, pace } = parts
  return async (call) => {
    pace.take(call, 'passkeys')
    const { challenge } = await challenges.take('sign-in', call)
    const { response } = call.body
    const found = await memberOfAssertion(state, webauthn, { response, challenge })
    const opened = await state.transaction((transaction) =>
      open(transaction, call, { ...found, action: 'sign-in.finish' }),
    )
    return await openedReply(parts, call, opened)
  }
}

export function createSessionRecover(parts: PortalParts): Handler<Recovery> {
  const { state, pace } = parts
  return async (call) => {
    pace.take(call, 'codes')
    const opened = await state.transaction(async (transaction) => {
      const { id, account } = await useRecoveryCode(transaction, call.body.code)
      const action = 'session.recover'
      return await open(transaction, call, { id, account, passkey: undefined, action })
    })
    return await openedReply(parts, call, opened)
  }
}

type SessionOpening = {
  readonly id: string
  readonly account: string
  readonly passkey: string | undefined
  readonly action: string
}

/** Opens a session of a member as it is now. Throws passkey_refused for one that was removed meanwhile. */
async function open(
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
