// /v1/session and /v1/sessions: the signed-in member, a fresh touch, the list, and the end.
import { ErgonError, present } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { SessionList, SignIn, TouchReply } from '#contract/portal.ts'
import { known, type OperationCall, type Handler, type KnownReply } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { endSessions, renewSession, sessionsOf } from '#identity/browser-sessions.ts'
import { askingMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { PortalParts } from '#portal/parts.ts'
import { memberOfAssertion, passkeysOf } from '#portal/passkeys.ts'
import { openedReply, sessionReplyOf } from '#portal/session-reply.ts'
import { sessionAsker } from '#portal/waiting.ts'

const NEVER = new AbortController().signal

export const createSessionGet =
  ({ state }: PortalParts): Handler =>
  async ({ caller }) =>
    known(await sessionReplyOf(state, callerOf({ caller }).token))

export const createTouchBegin =
  ({ state, challenges, webauthn }: PortalParts): Handler =>
  async (call) => {
    const { member, token } = callerOf(call)
    const options = await webauthn.assertionOptions(await passkeysOf(state, member))
    const asker = sessionAsker(token)
    return await challenges.ask('touch', call, { asker, options, facts: { session: token } })
  }

export function createTouch(parts: PortalParts): Handler<SignIn> {
  const { state, challenges, webauthn } = parts
  return async (call) => {
    const { token, account, member } = callerOf(call)
    const { challenge, facts } = await challenges.take('touch', call)
    const { response } = call.body
    const found = await memberOfAssertion(state, webauthn, { response, challenge })
    if (facts.session !== token || found.id !== member)
      throw fault('passkey_refused', 'Could not accept the passkey: it is of another member')
    const renewed = await state.transaction(async (transaction) => {
      await askingMember(transaction, call)
      await recordAct(transaction, call, { action: 'session.touch', target: token })
      return await renewSession(transaction, { token, account, passkey: found.passkey })
    })
    const { touched_until } = await sessionReplyOf(state, token)
    const reply: TouchReply = { touched_until }
    return await openedReply(parts, call, { ...renewed, reply })
  }
}

export const createSessionList =
  ({ state }: PortalParts): Handler =>
  async ({ caller }) => {
    const { member, token } = callerOf({ caller })
    const rows = await sessionsOf(state, member)
    return known({
      object: 'list',
      data: rows.map(({ id, client, ...times }) => ({
        id,
        object: 'browser_session',
        client,
        current: id === token,
        created_at: times.created_at.toISOString(),
        expires_at: times.expires_at.toISOString(),
        ends_at: times.ends_at.toISOString(),
      })),
    } satisfies SessionList)
  }

/** Signs out. */
export const createSessionEnd =
  (parts: PortalParts): Handler =>
  async (call) => {
    await end(parts, call, { id: callerOf(call).token, action: 'session.end' })
    return { ...inSpite(call, { ended: true }), headers: parts.cookies.session.clear() }
  }

export const createSessionRemove =
  (parts: PortalParts): Handler =>
  async (call) => {
    const id = present(call.parameters['session'], 'the path has the session')
    await end(parts, call, { id, action: 'session.remove' })
    return inSpite(call, { id, removed: true })
  }

/** The end of a session cuts all that runs under it, and so the request itself, which is answered. */
function inSpite({ signal }: OperationCall, body: object): KnownReply {
  const { reason } = signal
  const isOwnEnd = reason instanceof ErgonError && reason.code === 'token_revoked'
  return { ...known(body), ...(isOwnEnd && { despite: reason }) }
}

/** Ends a session of the member that asks and waits until no gateway accepts it. Throws session_not_found. */
async function end(
  { state }: PortalParts,
  call: OperationCall,
  { id, action }: { readonly id: string; readonly action: string },
): Promise<void> {
  const { token, account } = callerOf(call)
  const epoch = await state.transaction(async (transaction) => {
    const { id: member } = await askingMember(transaction, call)
    const which = { id }
    const { ended, epoch } = await endSessions(transaction, { account, member, own: token, which })
    if (ended === 0)
      throw fault('session_not_found', `Could not find the session: "${id.slice(0, 100)}"`)
    await recordAct(transaction, call, { action, target: id })
    return epoch
  })
  // Not until the request ends: it is cut by what it waits for.
  await untilHeard(state, epoch, NEVER)
}
