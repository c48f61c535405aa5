// DELETE /v1/sessions/{session}: ends a session of the member, such as that of a lost device.
import { present } from '#base/errors.ts'
import type { Handler } from '#http/reply.ts'
import type { PortalParts } from '#portal/parts.ts'
import { endSession, repliedInSpite } from '#portal/end-session.ts'

export const createSessionRemove =
  (parts: PortalParts): Handler =>
  async (call) => {
    const id = present(call.parameters['session'], 'the path has the session')
    await endSession(parts, call, { id, action: 'session.remove' })
    return repliedInSpite(call, { id, removed: true })
  }
