// DELETE /v1/session: signs out.
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { PortalParts } from '#portal/parts.ts'
import { endSession, repliedInSpite } from '#portal/end-session.ts'

/** Signs out. */
export const createSessionEnd =
  (parts: PortalParts): Handler =>
  async (call) => {
    await endSession(parts, call, { id: callerOf(call).token, action: 'session.end' })
    return { ...repliedInSpite(call, { ended: true }), headers: parts.cookies.session.clear() }
  }
