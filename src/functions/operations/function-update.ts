// PATCH /v1/functions/{id or name}: suspend or resume it, or change its energy budget or its host names.
import { present } from '#base/errors.ts'
import type { FunctionChange } from '#contract/functions/functions.ts'
import { FUNCTION_LIMITED } from '#functions/limited-operations.ts'
import { recordAct, type ActingCall } from '#identity/audit.ts'
import { setHosts } from '#resources/hosts.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import type { Queryable } from '#state/connect.ts'

/** Changes a function, with an entry in the audit log. Throws host_taken. */
export async function updateFunction(
  transaction: Queryable,
  call: ActingCall,
  {
    resource: { id },
    change,
    ownHosts,
  }: {
    readonly resource: { readonly id: string }
    readonly change: FunctionChange
    readonly ownHosts: readonly string[]
  },
): Promise<void> {
  const { suspended, energy_budget: budget, routes } = change
  const { account } = present(call.caller, 'a change is asked for with a token')
  await recordAct(transaction, call, { action: 'function.update', target: id, details: change })
  await setHosts(transaction, id, { routes, ownHosts })
  if (suspended !== undefined)
    await transaction.query('select want_resource($1, $2)', [
      id,
      suspended ? 'suspended' : 'deployed',
    ])
  // Last: a budget locks the head of the ledger, and others may wait for the locks of hosts and of the resource.
  await setEnergyBudget(transaction, { id, account, budget, operations: FUNCTION_LIMITED })
}
