// POST /v1/device-approvals: a link by which another device adds a passkey.
import { APPROVAL_MINUTES, type DeviceApproval } from '#contract/portal/portal.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { renewInvitation } from '#identity/member-changes.ts'
import { askingMember } from '#identity/members.ts'
import { invitationUrl } from '#portal/invitation-url.ts'
import type { PortalParts } from '#portal/parts.ts'
import { demandPasskeyRoom, passkeysOf } from '#portal/passkeys.ts'

const MINUTES_OF_DAY = 24 * 60

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
