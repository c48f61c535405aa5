// POST /v1/session/touch/options: a challenge for a fresh touch.
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'
import { passkeysOf } from '#portal/passkeys.ts'
import { sessionAsker } from '#portal/waiting.ts'

export const createTouchBegin =
  ({ state, challenges, webauthn }: PortalParts): Handler =>
  async (call) => {
    const { member, token } = callerOf(call)
    const options = await webauthn.assertionOptions(await passkeysOf(state, member))
    const asker = sessionAsker(token)
    return await challenges.ask('touch', call, { asker, options, facts: { session: token } })
  }
