// POST /v1/members/accept: the code of an invitation makes its member active and gives a first token, once. The caller
// has no token yet and pays nothing, so a network has a pace, and a gateway works on a few at once.
import type { Clock } from '#base/clock.ts'
import { networkOf } from '#base/subnets.ts'
import { fault } from '#contract/errors.ts'
import type { AcceptedReply, MemberAcceptance } from '#contract/accounts/members.ts'
import type { ClientOf } from '#http/client-of.ts'
import { createRates } from '#http/request-rates.ts'
import type { Handler } from '#http/reply.ts'
import { acceptInvitation } from '#identity/accept-invitation.ts'
import { recordAct } from '#identity/audit.ts'
import { findMember } from '#identity/members.ts'
import type { State } from '#state/connect.ts'
import { memberReplyOf } from '#accounts/asked-member.ts'
import { tokenReplyOf } from '#accounts/token-reply.ts'

/** Acceptances that a gateway works on at once. */
export const ACCEPTANCES_MAX = 4

/** Codes that a network tries in a minute, at each gateway. */
export const ACCEPTANCES_PER_MINUTE = 120

export function createMemberAccept(deps: {
  readonly state: State
  readonly clientOf: ClientOf
  readonly clock: Clock
}): Handler<MemberAcceptance> {
  const { state, clientOf, clock } = deps
  const rates = createRates(clock)
  let running = 0
  return async ({ body, spend, socket, headers }) => {
    if (running >= ACCEPTANCES_MAX)
      throw fault('overloaded', `Could not accept the invitation: ${running} others are running`, {
        retryAfterS: 1,
      })
    const key = networkOf(clientOf({ socket, headers }).address)
    rates.take([{ key, name: 'network', perMinute: ACCEPTANCES_PER_MINUTE }])
    running++
    try {
      const reply = await state.transaction(async (transaction): Promise<AcceptedReply> => {
        const { member, token } = await acceptInvitation(transaction, body.code, clock.wallMs())
        const { id, account } = member
        // The entry is the member's, by its first token: there is no other.
        const caller = { account, token: token.id }
        await recordAct(transaction, { caller, spend }, { action: 'member.accept', target: id })
        return {
          ...memberReplyOf(await findMember(transaction, account, id), id),
          account,
          first_token: {
            ...(await tokenReplyOf(transaction, token.id, caller)),
            token: token.text,
          },
        }
      })
      return { kind: 'known', status: 201, body: () => reply }
    } finally {
      running--
    }
  }
}
