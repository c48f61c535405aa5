// DELETE /v1/functions/{id or name}: it answers no more; the agent's reconciler removes what is left.
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import { findFunction } from './find-function.ts'

export const createFunctionDelete =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { account } = callerOf(call.who)
    const { id } = await findFunction(state, account, call.parameters['function'] ?? '')
    await state.transaction(async (transaction) => {
      await recordAct(transaction, call, { action: 'function.delete', target: id })
      await transaction.query('select delete_function($1)', [id])
    })
    return known({ id, object: 'function', deleted: true })
  }
