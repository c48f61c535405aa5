// POST /v1/tokens: makes a token, with a scope and limits that the asking member may give.
import { tokenReplyOf } from '#accounts/token-reply.ts'
import { permits, type Scope } from '#contract/operation.ts'
import type { TokenLimits, TokenRequest } from '#contract/identity/tokens.ts'
import { setTokenLimits } from '#accounts/token-limits.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { askingMember, demandUnbound, type AskingMember } from '#identity/members.ts'
import { callerOf, scopeMissing } from '#identity/principal.ts'
import { createToken, demandTokenRoom, takeLimits } from '#identity/tokens.ts'
import type { State } from '#state/connect.ts'

const DAY_MS = 86_400_000

type Deps = { readonly state: State }

export const createTokenCreate =
  ({ state }: Deps): Handler<TokenRequest> =>
  async (call) =>
    await state.transaction(async (transaction) => {
      const { name, scope, expires_days: days, ...limits } = call.body
      const asking = await askingMember(transaction, call)
      demandWithin(asking, { scope, limits })
      const { id: member, account } = asking
      await demandTokenRoom(transaction, account)
      const expiresAt = expiryOf(asking, days)
      const expiry = expiresAt === undefined ? {} : { expiresAt }
      const { id, text } = await createToken(transaction, {
        account,
        member,
        name,
        scope,
        ...expiry,
      })
      if (asking.is_bound) await takeLimits(transaction, { from: callerOf(call).token, to: id })
      else await setTokenLimits(transaction, { id, account }, limits)
      const made = await tokenReplyOf(transaction, id, callerOf(call))
      const details = { name, scope, expires_at: made.expires_at, ...limits }
      await recordAct(transaction, call, { action: 'token.create', target: id, details })
      return known({ ...made, token: text }, 201)
    })

/**
 * Throws scope_missing: nobody makes a token above the own one. A token that is bound sets no limits and hands its own on,
 * so that nobody gets rid of them.
 */
function demandWithin(
  asking: AskingMember,
  { scope, limits }: { readonly scope: Scope; readonly limits: TokenLimits },
): void {
  if (Object.keys(limits).length > 0) demandUnbound(asking, 'set limits')
  if (!permits(asking.scope, scope)) throw scopeMissing('Could not create the token', asking, scope)
}

/** A token that is bound hands its end on too: nobody makes an eternal token of a short-lived one. */
function expiryOf(
  { is_bound: isBound, expires_at: own }: AskingMember,
  days?: number,
): Date | undefined {
  const ends = days === undefined ? [] : [Date.now() + days * DAY_MS]
  if (isBound && own !== null) ends.push(own.getTime())
  return ends.length === 0 ? undefined : new Date(Math.min(...ends))
}
