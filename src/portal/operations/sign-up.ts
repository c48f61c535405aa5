// POST /v1/sign-up/options and POST /v1/sign-up: a passkey makes an account with its owner, or belongs to the member that an
// invitation names.
import { newId } from '#base/ids.ts'
import { fault } from '#contract/errors.ts'
import type { InvitedMember, SignUp, SignUpOptions, SignUpReply } from '#contract/portal/portal.ts'
import type { Handler } from '#http/reply.ts'
import { invitationHash, openInvitation, takeInvitation } from '#identity/accept-invitation.ts'
import { createAccount } from '#identity/accounts.ts'
import { recordAct, type Act } from '#identity/audit.ts'
import { openBrowserSession } from '#identity/browser-sessions.ts'
import { findMember, lockAccount, type AccountMember } from '#identity/members.ts'
import type { Queryable } from '#state/connect.ts'
import type { ChallengeFacts } from '#portal/challenges.ts'
import type { PortalParts } from '#portal/parts.ts'
import { addPasskey, demandPasskeyRoom, passkeysOf, type PasskeyRow } from '#portal/passkeys.ts'
import { recoveryCodesLeft, renewRecoveryCodes } from '#portal/recovery-codes.ts'
import { countSignUp, demandSignUp } from '#portal/sign-up-pace.ts'
import { clientOf, openedReply } from '#portal/session-reply.ts'

export function createSignUpBegin(parts: PortalParts): Handler<SignUpOptions> {
  const { state, challenges, webauthn, pace, signUp } = parts
  return async (call) => {
    const { name, invitation } = call.body
    pace.take(call, 'options')
    const asker = pace.askerOf(call)
    if (invitation === undefined) {
      if (signUp !== 'open') throw closed('accounts are made by invitation')
      if (isCounted(parts)) await demandSignUp(state, asker.name)
      const facts = { member: newId('mem'), name: name ?? '' }
      const options = await webauthn.registrationOptions({ id: facts.member, name: facts.name }, [])
      return await challenges.ask('sign-up', call, { asker, options, facts })
    }
    const hash = invitationHash(invitation)
    const member = await openInvitation(state, hash)
    demandJoinable(parts, member)
    const known = await passkeysOf(state, member.id)
    demandPasskeyRoom(known)
    const asked = await webauthn.registrationOptions(member, known)
    const options = { ...asked, invited: await invitedOf(state, member) }
    const facts = { member: member.id, invitationHash: hash.toString('hex') }
    return await challenges.ask('sign-up', call, { asker, options, facts })
  }
}

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

async function invitedOf(
  state: Queryable,
  { account, name, role, state: status }: AccountMember,
): Promise<InvitedMember> {
  const { rows } = await state.query<{ name: string | null; owner: string | null }>(
    `select name, (select m.name from members m where m.account = a.id and m.role = 'owner' and m.state = 'active'
       order by m.joined_at, m.id limit 1) as owner
     from accounts a where id = $1`,
    [account],
  )
  return {
    account_id: account,
    account_name: rows[0]?.name ?? null,
    account_owner: rows[0]?.owner ?? null,
    name,
    role,
    is_active: status === 'active',
  }
}

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

/** Accounts with test money are made on this machine alone, where nobody is a stranger. */
const isCounted = ({ env }: PortalParts): boolean => env === 'live'

/** A code lets its member in under every rule of sign-up, if the member is active. Throws sign_up_closed. */
function demandJoinable({ signUp }: PortalParts, { state }: AccountMember): void {
  if (signUp === 'closed' && state === 'invited') throw closed('nobody new is taken')
}

const closed = (why: string) => fault('sign_up_closed', `Could not sign up: ${why}`)
