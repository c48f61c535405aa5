// Accounts as payers of a resource's use, limited by the energy budget of the resource.
import { systemClock } from '#base/clock.ts'
import type { CellPayer } from '#charging/cell-hold.ts'
import { createPayers } from '#identity/payers.ts'
import { njPerDayOf } from '#ledger/budgets.ts'
import type { Queryable } from '#state/connect.ts'

/** The budget is read at each call. The lookup throws not_found for an account that does not exist. */
export function createLimitedPayers(
  state: Queryable,
): (account: string, resource: string) => Promise<CellPayer> {
  const payers = createPayers({ state, clock: systemClock })
  return async (account, resource) => {
    const payer = await payers.payerOf(account)
    const njPerDay = await njPerDayOf(state, resource)
    return njPerDay === undefined ? payer : { ...payer, budgets: [resource], njPerDay }
  }
}
