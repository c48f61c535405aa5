// PATCH /v1/passkeys/{passkey}.
import { present } from '#base/errors.ts'
import type { PasskeyChange } from '#contract/portal/portal.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { askingMember } from '#identity/members.ts'
import type { PortalParts } from '#portal/parts.ts'
import { passkeyReplyOf, passkeysOf, ownPasskey } from '#portal/passkeys.ts'

export const createPasskeyRename =
  ({ state }: PortalParts): Handler<PasskeyChange> =>
  async (call) => {
    const id = present(call.parameters['passkey'], 'the path has the passkey')
    const row = await state.transaction(async (transaction) => {
      const asking = await askingMember(transaction, call)
      const own = ownPasskey(await passkeysOf(transaction, asking.id), id)
      await transaction.query('update passkeys set name = $2 where id = $1', [id, call.body.name])
      await recordAct(transaction, call, {
        action: 'passkey.rename',
        target: id,
        details: call.body,
      })
      return { ...own, name: call.body.name }
    })
    return known(passkeyReplyOf(row))
  }
