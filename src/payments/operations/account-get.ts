// GET /v1/account.
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'
import { accountReplyOf } from '#payments/account-reply.ts'

export const createAccountGet =
  ({ state }: { readonly state: Queryable }): Handler =>
  async (call) => {
    const reply = await accountReplyOf(state, callerOf(call))
    return { kind: 'known', status: 200, body: () => reply }
  }
