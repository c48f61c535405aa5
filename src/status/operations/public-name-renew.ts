// PUT /v1/account/public-name: another name for the row of the account on the status page.
import type { Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import { errorRateOf } from '#status/error-rates/own-rate.ts'

export const createPublicNameRenew =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { account } = callerOf(call)
    await state.transaction(async (transaction) => {
      await transaction.query('select renew_public_name($1)', [account])
      await recordAct(transaction, call, { action: 'public-name.renew', target: account })
    })
    const reply = await errorRateOf(state, account)
    return { kind: 'known', status: 200, body: () => reply }
  }
