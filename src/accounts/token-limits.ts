// The limits of a token: its requests in a minute, and the energy that it may spend in a day.
import type { TokenLimits } from '#contract/identity/tokens.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'
import type { Queryable } from '#state/connect.ts'

/**
 * Changes the limits that are named; null removes one. The transaction must have the token's row locked or made. A budget
 * counts what begins after the change: the requests of a token today may be too many to add up while ticks wait.
 */
export async function setTokenLimits(
  transaction: Queryable,
  { id, account }: { readonly id: string; readonly account: string },
  { requests_per_minute: perMinute, energy_budget: budget }: TokenLimits,
): Promise<void> {
  if (perMinute !== undefined)
    await transaction.query('update tokens set requests_per_minute = $2 where id = $1', [
      id,
      perMinute,
    ])
  if (budget === undefined) return
  const { rows } = await transaction.query<{ budget: string }>(
    `update tokens set budget = coalesce(budget, id) where id = $1 returning budget`,
    [id],
  )
  const budgetId = rows[0]?.budget ?? id
  await setEnergyBudget(transaction, { id: budgetId, account, budget, operations: [] })
  // A hold on a budget that is not there would be refused.
  if (budget === null)
    await transaction.query('update tokens set budget = null where account = $1 and budget = $2', [
      account,
      budgetId,
    ])
}
