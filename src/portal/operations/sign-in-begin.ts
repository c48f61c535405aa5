// POST /v1/sign-in/options: what a browser asks a passkey for.
import type { Handler } from '#http/reply.ts'
import type { PortalParts } from '#portal/parts.ts'

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
