// GET /v1/account/error-rate: the account's own row of the status page, with exact counts.
import type { Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'
import { errorRateOf } from '#status/error-rates/own-rate.ts'

export const createErrorRateGet =
  ({ state }: { readonly state: Queryable }): Handler =>
  async ({ caller }) => {
    const reply = await errorRateOf(state, callerOf({ caller }).account)
    return { kind: 'known', status: 200, body: () => reply }
  }
