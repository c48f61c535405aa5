// POST /v1/passkeys: adds a passkey to the member that asks.
import { fault } from '#contract/errors.ts'
import type { NewPasskey } from '#contract/portal/portal.ts'
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { renewSession } from '#identity/browser-sessions.ts'
import { askingMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'
import { addPasskey, passkeyReplyOf } from '#portal/passkeys.ts'
import { openedReply } from '#portal/session-reply.ts'

export function createPasskeyAdd(parts: PortalParts): Handler<NewPasskey> {
  const { state, challenges, webauthn } = parts
  return async (call) => {
    const { token, account } = callerOf(call)
    const { challenge, facts } = await challenges.take('passkey', call)
    if (facts.session !== token)
      throw fault('passkey_refused', 'Could not accept the passkey: another session asked for it')
    const { name, response } = call.body
    const passkey = await webauthn.verifyRegistration(response, challenge)
    const { added, renewed } = await state.transaction(async (transaction) => {
      const asking = await askingMember(transaction, call)
      const added = await addPasskey(transaction, asking, { ...passkey, name })
      const act = { action: 'passkey.add', target: added.id, details: { name } }
      await recordAct(transaction, call, act)
      const renewed = await renewSession(transaction, { token, account, passkey: added.id })
      return { added, renewed }
    })
    return await openedReply(parts, call, { ...renewed, reply: passkeyReplyOf(added) }, 201)
  }
}
