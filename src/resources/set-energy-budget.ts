// The energy budget of a resource: set, changed or removed.
import type { OperationName } from '#contract/operations.ts'
import { energyPerDay } from '#contract/values/energy-budget.ts'
import type { Queryable } from '#state/connect.ts'

export async function setEnergyBudget(
  state: Queryable,
  {
    id,
    account,
    budget,
    operations,
  }: {
    readonly id: string
    readonly account: string
    /** Undefined: it stays as it is. */
    readonly budget: string | null | undefined
    /** The operations that it limits. */
    readonly operations: readonly OperationName[]
  },
): Promise<void> {
  if (budget === undefined) return
  const perDay = budget === null ? null : String(energyPerDay(budget))
  await state.query('select set_budget($1, $2, $3, $4)', [id, account, perDay, operations])
}
