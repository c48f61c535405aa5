// POST /v1/recovery-codes: new codes of the member that asks; the old ones end.
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { endSessions } from '#identity/browser-sessions.ts'
import { askingMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { PortalParts } from '#portal/parts.ts'
import { renewRecoveryCodes } from '#portal/recovery-codes.ts'

export const createRecoveryCodesRenew =
  ({ state }: PortalParts): Handler =>
  async (call) => {
    const own = callerOf(call).token
    const { codes, epoch } = await state.transaction(async (transaction) => {
      const asking = await askingMember(transaction, call)
      const { id: member, account } = asking
      await recordAct(transaction, call, { action: 'recovery-codes.renew', target: member })
      const codes = await renewRecoveryCodes(transaction, asking)
      // A thief may have used an old code: the sessions that recovery codes opened end here.
      const ended = await endSessions(transaction, { account, member, own, which: 'limited' })
      return { codes, epoch: ended.epoch }
    })
    await untilHeard(state, epoch, call.signal)
    return known({ recovery_codes: codes }, 201)
  }
