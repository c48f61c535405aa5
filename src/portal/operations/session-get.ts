// GET /v1/session: the signed-in member.
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'
import { sessionReplyOf } from '#portal/session-reply.ts'

export const createSessionGet =
  ({ state }: PortalParts): Handler =>
  async ({ caller }) =>
    known(await sessionReplyOf(state, callerOf({ caller }).token))
