// POST /v1/sign-up: a passkey makes an account with its owner, or belongs to the member that an invitation names.
import type { SignUp, SignUpReply } from '#contract/portal/portal.ts'
import type { Handler } from '#http/reply.ts'
import { takeInvitation } from '#identity/accept-invitation.ts'
import { createAccount } from '#identity/accounts.ts'
import { recordAct, type Act } from '#identity/audit.ts'
import { openBrowserSession } from '#identity/browser-sessions.ts'
import { findMember, lockAccount, type AccountMember } from '#identity/members.ts'
import type { Queryable } from '#state/connect.ts'
import type { ChallengeFacts } from '#portal/challenges.ts'
import { demandJoinable, isCounted } from '#portal/joinable.ts'
import type { PortalParts } from '#portal/parts.ts'
import { addPasskey, type PasskeyRow } from '#portal/passkeys.ts'
import { recoveryCodesLeft, renewRecoveryCodes } from '#portal/recovery-codes.ts'
import { countSignUp } from '#portal/sign-up-pace.ts'
import { clientOf, openedReply } from '#portal/session-reply.ts'

export function createSignUpFinish(parts: PortalParts): Handler<SignUp> {
  const { state, challenges, webauthn, pace } = parts
  return async (call) => {
    pace.take(call, 'passkeys')
    const { challenge, facts } = await challenges.take('sign-up', call)
    const passkey = await webauthn.verifyRegistration(call.body.response, challenge)
    const opened = await state.transaction(async (transaction) => {
      const member = await memberOf(transaction, facts, parts)
      if (facts.invitationHash === undefined && isCounted(parts))
        await countSignUp(transaction, pace.askerOf(call).name)
      const added = await addPasskey(transaction, member, {
        ...passkey,
        name: call.body.passkey_name,
      })
      const client = clientOf(call.headers)
      const opening = { member, passkey: added.id, client, spend: call.spend }
      const session = await openBrowserSession(transaction, opening)
      const isFirst = (await recoveryCodesLeft(transaction, member.id)) === 0
      const codes = isFirst ? await renewRecoveryCodes(transaction, member) : []
      // The entry is the member's, by its first session: there is no other.
      const caller = { account: member.account, token: session.id }
      await recordAct(transaction, { caller, spend: call.spend }, actOf(facts, member, added))
      const reply: SignUpReply = {
        account_id: member.account,
        member_id: member.id,
        recovery_codes: [...codes],
      }
      return { ...session, reply }
    })
    return await openedReply(parts, call, opened, 201)
  }
}

/** A member that was active before has another device, and signs up no more. */
const actOf = (
  { invitationHash: hash }: ChallengeFacts['sign-up'],
  { id, state }: AccountMember,
  { id: passkey, name }: PasskeyRow,
): Act =>
  hash !== undefined && state === 'active'
    ? { action: 'passkey.add', target: passkey, details: { name } }
    : { action: 'sign-up.finish', target: id, details: { passkey } }

/** The member that signs up; its account is locked. */
async function memberOf(
  transaction: Queryable,
  { member, name, invitationHash: hash }: ChallengeFacts['sign-up'],
  parts: PortalParts,
): Promise<AccountMember> {
  if (hash !== undefined) {
    const invited = await takeInvitation(transaction, Buffer.from(hash, 'hex'))
    demandJoinable(parts, invited)
    return invited
  }
  const values = { owner: member, ...(name === undefined ? {} : { name }) }
  const account = await createAccount(transaction, parts.env, values)
  await lockAccount(transaction, account)
  return await findMember(transaction, account, member)
}
