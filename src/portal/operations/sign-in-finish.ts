// POST /v1/sign-in: any passkey of the portal opens a session.
import type { SignIn } from '#contract/portal/portal.ts'
import type { Handler } from '#http/reply.ts'
import type { PortalParts } from '#portal/parts.ts'
import { memberOfAssertion } from '#portal/passkeys.ts'
import { openMemberSession } from '#portal/open-session.ts'
import { openedReply } from '#portal/session-reply.ts'

export function createSignInFinish(parts: PortalParts): Handler<SignIn> {
  const { state, challenges, webauthn, pace } = parts
  return async (call) => {
    pace.take(call, 'passkeys')
    const { challenge } = await challenges.take('sign-in', call)
    const { response } = call.body
    const found = await memberOfAssertion(state, webauthn, { response, challenge })
    const opened = await state.transaction((transaction) =>
      openMemberSession(transaction, call, { ...found, action: 'sign-in.finish' }),
    )
    return await openedReply(parts, call, opened)
  }
}
