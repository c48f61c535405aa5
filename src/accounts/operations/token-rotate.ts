// POST /v1/tokens/{id}/rotate: a new token in place of one that ends after an overlap.
import { tokenReplyOf } from '#accounts/token-reply.ts'
import type { TokenRotation } from '#contract/identity/tokens.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import { rotateToken } from '#identity/tokens.ts'
import type { State } from '#state/connect.ts'

type Deps = { readonly state: State }

export const createTokenRotate =
  ({ state }: Deps): Handler<TokenRotation> =>
  async (call) => {
    const ending = {
      id: call.parameters['token'] ?? '',
      afterS: call.body.overlap_s,
      call,
    }
    const { id, text } = await rotateToken(state, ending, call.signal)
    const made = await tokenReplyOf(state, id, callerOf(call))
    const replaces = await tokenReplyOf(state, ending.id, callerOf(call))
    return known({ ...made, token: text, replaces }, 201)
  }
