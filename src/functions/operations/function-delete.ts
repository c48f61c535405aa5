// DELETE /v1/functions/{id or name}: it answers no more; the agent's reconciler removes what is left.
import { known, type Handler } from '#http/reply.ts'
import { recordAct, type Asker } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findFunction } from './find-function.ts'

export const createFunctionDelete =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { account } = callerOf(call.who)
    const { id } = await findFunction(state, account, call.parameters['function'] ?? '')
    await state.transaction((transaction) => deleteFunction(transaction, call, id))
    return known({ id, object: 'function', deleted: true })
  }

/** With its entry in the audit log. */
export async function deleteFunction(
  transaction: Queryable,
  asker: Asker,
  id: string,
): Promise<void> {
  await recordAct(transaction, asker, { action: 'function.delete', target: id })
  await transaction.query('select delete_function($1)', [id])
}
