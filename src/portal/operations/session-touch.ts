// POST /v1/session/touch: a fresh touch of a passkey.
import { fault } from '#contract/errors.ts'
import type { SignIn, TouchReply } from '#contract/portal/portal.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { renewSession } from '#identity/browser-sessions.ts'
import { askingMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'
import { memberOfAssertion } from '#portal/passkeys.ts'
import { openedReply, sessionReplyOf } from '#portal/session-reply.ts'

export function createTouch(parts: PortalParts): Handler<SignIn> {
  const { state, challenges, webauthn } = parts
  return async (call) => {
    const { token, account, member } = callerOf(call)
    const { challenge, facts } = await challenges.take('touch', call)
    const { response } = call.body
    const found = await memberOfAssertion(state, webauthn, { response, challenge })
    if (facts.session !== token || found.id !== member)
      throw fault('passkey_refused', 'Could not accept the passkey: it is of another member')
    const renewed = await state.transaction(async (transaction) => {
      await askingMember(transaction, call)
      await recordAct(transaction, call, { action: 'session.touch', target: token })
      return await renewSession(transaction, { token, account, passkey: found.passkey })
    })
    const { touched_until } = await sessionReplyOf(state, token)
    const reply: TouchReply = { touched_until }
    return await openedReply(parts, call, { ...renewed, reply })
  }
}
