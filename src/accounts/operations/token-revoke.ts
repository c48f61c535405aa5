// DELETE /v1/tokens/{id}: ends a token at once.
import { tokenReplyOf } from '#accounts/token-reply.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import { endToken } from '#identity/tokens.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createTokenRevoke =
  ({ state }: Deps): Handler =>
  async (call) => {
    const ending = { id: call.parameters['token'] ?? '', afterS: 0, call }
    await endToken(state, ending, call.signal)
    return known(await tokenReplyOf(state, ending.id, callerOf(call)))
  }
