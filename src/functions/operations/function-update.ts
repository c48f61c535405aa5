// PATCH /v1/functions/{id or name}: suspend or resume it, or change its energy budget.
import { present } from '#base/errors.ts'
import type { FunctionChange } from '#contract/functions.ts'
import { FUNCTION_LIMITED } from '#functions/operations/limited-operations.ts'
import type { FunctionGatewaySettings } from '#functions/settings.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct, type Asker } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import type { Queryable, State } from '#state/connect.ts'
import { findFunction, functionReplyOf } from './find-function.ts'

export const createFunctionUpdate =
  ({
    state,
    settings,
  }: {
    readonly state: State
    readonly settings: FunctionGatewaySettings
  }): Handler<FunctionChange> =>
  async (call) => {
    const { who, parameters, body } = call
    const { account } = callerOf(who)
    const { id } = await findFunction(state, account, parameters['function'] ?? '')
    await state.transaction((transaction) =>
      updateFunction(transaction, call, { id, change: body }),
    )
    return known(functionReplyOf(await findFunction(state, account, id), settings))
  }

/** With its entry in the audit log. */
export async function updateFunction(
  transaction: Queryable,
  asker: Asker,
  { id, change }: { readonly id: string; readonly change: FunctionChange },
): Promise<void> {
  const { suspended, energy_budget: budget } = change
  const { account } = present(asker.who, 'a change is asked for with a token')
  await recordAct(transaction, asker, { action: 'function.update', target: id, details: change })
  if (budget !== undefined)
    await setEnergyBudget(transaction, { id, account, budget, operations: FUNCTION_LIMITED })
  if (suspended !== undefined)
    await transaction.query('select want_resource($1, $2)', [
      id,
      suspended ? 'suspended' : 'deployed',
    ])
}
