// PATCH /v1/tokens/{id}: the limits of a token.
import { tokenReplyOf } from '#accounts/token-reply.ts'
import type { TokenLimits } from '#contract/identity/tokens.ts'
import { setTokenLimits } from '#accounts/token-limits.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import { changeToken } from '#identity/tokens.ts'
import type { Queryable, State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createTokenUpdate =
  ({ state }: Deps): Handler<TokenLimits> =>
  async (call) => {
    const caller = callerOf(call)
    const token = { id: call.parameters['token'] ?? '', account: caller.account }
    const change = async (transaction: Queryable) => {
      const act = { action: 'token.update', target: token.id, details: call.body }
      await recordAct(transaction, call, act)
      await setTokenLimits(transaction, token, call.body)
    }
    await changeToken(state, { id: token.id, call }, change, call.signal)
    return known(await tokenReplyOf(state, token.id, caller))
  }
