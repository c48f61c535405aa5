// PATCH /v1/functions/{id or name}: suspend or resume it, or change its energy budget.
import { present } from '#base/errors.ts'
import type { FunctionChange } from '#contract/functions/functions.ts'
import { FUNCTION_LIMITED } from '#functions/limited-operations.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import type { Queryable } from '#state/connect.ts'

/** Changes a function, with an entry in the audit log. */
export async function updateFunction(
  transaction: Queryable,
  call: ActingCall,
  {
    resource: { id },
    change,
  }: { readonly resource: { readonly id: string }; readonly change: FunctionChange },
): Promise<void> {
  const { suspended, energy_budget: budget } = change
  const { account } = present(call.caller, 'a change is asked for with a token')
  await recordAct(transaction, call, { action: 'function.update', target: id, details: change })
  await setEnergyBudget(transaction, { id, account, budget, operations: FUNCTION_LIMITED })
  if (suspended !== undefined)
    await transaction.query('select want_resource($1, $2)', [
      id,
      suspended ? 'suspended' : 'deployed',
    ])
}
