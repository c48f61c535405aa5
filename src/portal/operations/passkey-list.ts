// GET /v1/passkeys: those of the member that asks.
import type { PasskeyList } from '#contract/portal/portal.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'
import { passkeyReplyOf, passkeysOf } from '#portal/passkeys.ts'

export const createPasskeyList =
  ({ state }: PortalParts): Handler =>
  async ({ caller }) => {
    const rows = await passkeysOf(state, callerOf({ caller }).member)
    return known({ object: 'list', data: rows.map(passkeyReplyOf) } satisfies PasskeyList)
  }
