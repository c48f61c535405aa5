// DELETE /v1/passkeys/{passkey}: the last one stays. Sessions that it opened end.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { endSessions } from '#identity/browser-sessions.ts'
import { askingMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { PortalParts } from '#portal/parts.ts'
import { passkeysOf, ownPasskey } from '#portal/passkeys.ts'

export const createPasskeyRemove =
  ({ state }: PortalParts): Handler =>
  async (call) => {
    const { token, account } = callerOf(call)
    const id = present(call.parameters['passkey'], 'the path has the passkey')
    const epoch = await state.transaction(async (transaction) => {
      const { id: member } = await askingMember(transaction, call)
      const owned = await passkeysOf(transaction, member)
      const { name } = ownPasskey(owned, id)
      if (owned.length === 1)
        throw fault('last_passkey', 'Could not remove the passkey: it is the only one')
      await transaction.query('delete from passkeys where id = $1', [id])
      await recordAct(transaction, call, {
        action: 'passkey.remove',
        target: id,
        details: { name },
      })
      const which = { passkey: id }
      return (await endSessions(transaction, { account, member, own: token, which })).epoch
    })
    await untilHeard(state, epoch, call.signal)
    return known({ id, removed: true })
  }
