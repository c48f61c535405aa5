// POST /v1/passkeys/options: a challenge for one more passkey of the member that asks.
import type { Handler } from '#http/reply.ts'
import { findMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'
import { demandPasskeyRoom, passkeysOf } from '#portal/passkeys.ts'
import { sessionAsker } from '#portal/waiting.ts'

export const createPasskeyBegin =
  ({ state, challenges, webauthn }: PortalParts): Handler =>
  async (call) => {
    const { member, account, token } = callerOf(call)
    const owned = await passkeysOf(state, member)
    demandPasskeyRoom(owned)
    const named = await findMember(state, account, member)
    const options = await webauthn.registrationOptions(named, owned)
    const asker = sessionAsker(token)
    return await challenges.ask('passkey', call, { asker, options, facts: { session: token } })
  }
