// POST /v1/session/recover: a recovery code opens a session that may add a passkey, and nothing else.
import type { Recovery } from '#contract/portal/portal.ts'
import type { Handler } from '#http/reply.ts'
import { openMemberSession } from '#portal/open-session.ts'
import type { PortalParts } from '#portal/parts.ts'
import { useRecoveryCode } from '#portal/recovery-codes.ts'
import { openedReply } from '#portal/session-reply.ts'

export function createSessionRecover(parts: PortalParts): Handler<Recovery> {
  const { state, pace } = parts
  return async (call) => {
    pace.take(call, 'codes')
    const opened = await state.transaction(async (transaction) => {
      const { id, account } = await useRecoveryCode(transaction, call.body.code)
      const action = 'session.recover'
      return await openMemberSession(transaction, call, { id, account, passkey: undefined, action })
    })
    return await openedReply(parts, call, opened)
  }
}
