// /v1/passkeys, /v1/recovery-codes and /v1/device-approvals: the ways in of the member that asks.
import { present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import {
  APPROVAL_MINUTES,
  type DeviceApproval,
  type NewPasskey,
  type PasskeyChange,
  type PasskeyList,
} from '#contract/portal.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { endSessions, renewSession } from '#identity/browser-sessions.ts'
import { renewInvitation } from '#identity/member-changes.ts'
import { askingMember, findMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import { invitationUrl } from '#portal/invitation-url.ts'
import type { PortalParts } from '#portal/parts.ts'
import {
  addPasskey,
  demandPasskeyRoom,
  passkeyReplyOf,
  passkeysOf,
  type PasskeyRow,
} from '#portal/passkeys.ts'
import { renewRecoveryCodes } from '#portal/recovery-codes.ts'
import { openedReply } from '#portal/session-reply.ts'
import { sessionAsker } from '#portal/waiting.ts'

const MINUTES_OF_DAY = 24 * 60

export const createPasskeyList =
  ({ state }: PortalParts): Handler =>
  async ({ caller }) => {
    const rows = await passkeysOf(state, callerOf({ caller }).member)
    return known({ object: 'list', data: rows.map(passkeyReplyOf) } satisfies PasskeyList)
  }

export const createPasskeyBegin =
  ({ state, challenges, webauthn }: PortalParts): Handler =>
  async (call) => {
    const { member, account, token } = callerOf(call)
    const owned = await passkeysOf(state, member)
    demandPasskeyRoom(owned)
    const named = await findMember(state, account, member)
    const options = await webauthn.registrationOptions(named, owned)
    const asker = sessionAsker(token)
    return await challenges.ask('passkey', call, { asker, options, facts: { session: token } })
  }

export function createPasskeyAdd(parts: PortalParts): Handler<NewPasskey> {
  const { state, challenges, webauthn } = parts
  return async (call) => {
    const { token, account } = callerOf(call)
    const { challenge, facts } = await challenges.take('passkey', call)
    if (facts.session !== token)
      throw fault('passkey_refused', 'Could not accept the passkey: another session asked for it')
    const { name, response } = call.body
    const passkey = await webauthn.verifyRegistration(response, challenge)
    const { added, renewed } = await state.transaction(async (transaction) => {
      const asking = await askingMember(transaction, call)
      const added = await addPasskey(transaction, asking, { ...passkey, name })
      const act = { action: 'passkey.add', target: added.id, details: { name } }
      await recordAct(transaction, call, act)
      const renewed = await renewSession(transaction, { token, account, passkey: added.id })
      return { added, renewed }
    })
    return await openedReply(parts, call, { ...renewed, reply: passkeyReplyOf(added) }, 201)
  }
}

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

/** Throws passkey_not_found. */
function ownPasskey(owned: readonly PasskeyRow[], id: string): PasskeyRow {
  const found = owned.find((one) => one.id === id)
  if (found === undefined)
    throw fault('passkey_not_found', `Could not find the passkey: "${id.slice(0, 100)}"`)
  return found
}

export const createRecoveryCodesRenew =
  ({ state }: PortalParts): Handler =>
  async (call) => {
    const own = callerOf(call).token
    const { codes, epoch } = await state.transaction(async (transaction) => {
      const asking = await askingMember(transaction, call)
      const { id: member, account } = asking
      await recordAct(transaction, call, { action: 'recovery-codes.renew', target: member })
      const codes = await renewRecoveryCodes(transaction, asking)
      // Somebody else may have used a code: the session that it opened ends with it.
      const ended = await endSessions(transaction, { account, member, own, which: 'limited' })
      return { codes, epoch: ended.epoch }
    })
    await untilHeard(state, epoch, call.signal)
    return known({ recovery_codes: codes }, 201)
  }

/** The code is that of an invitation of the member itself, by which another device adds a passkey, once. */
export const createDeviceApproval =
  ({ state, clock, origin }: PortalParts): Handler =>
  async (call) => {
    const code = await state.transaction(async (transaction) => {
      const { id } = await askingMember(transaction, call)
      demandPasskeyRoom(await passkeysOf(transaction, id))
      await recordAct(transaction, call, { action: 'device-approval.create', target: id })
      return await renewInvitation(transaction, id, APPROVAL_MINUTES / MINUTES_OF_DAY, 'passkey')
    })
    const expiresAt = new Date(clock.wallMs() + APPROVAL_MINUTES * 60_000)
    const reply: DeviceApproval = {
      url: invitationUrl(origin.origin, code),
      code,
      expires_at: expiresAt.toISOString(),
    }
    return known(reply, 201)
  }
