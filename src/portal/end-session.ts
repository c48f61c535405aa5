// The end of a session by its member, from this browser or another.
import { ErgonError } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { known, type OperationCall, type KnownReply } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { endSessions } from '#identity/browser-sessions.ts'
import { askingMember } from '#identity/members.ts'
import { callerOf } from '#identity/principal.ts'
import { untilHeard } from '#identity/credential-changes.ts'
import type { PortalParts } from './parts.ts'

const NEVER = new AbortController().signal

/** Ends a session of the member that asks and waits until no gateway accepts it. Throws session_not_found. */
export async function endSession(
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

/** The end of a session cuts all that runs under it, and so the request itself, which is answered. */
export function repliedInSpite({ signal }: OperationCall, body: object): KnownReply {
  const { reason } = signal
  const isOwnEnd = reason instanceof ErgonError && reason.code === 'token_revoked'
  return { ...known(body), ...(isOwnEnd && { despite: reason }) }
}
