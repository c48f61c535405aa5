// Accounts as payers of a resource's use, limited by the energy budget of the resource.
import { systemClock } from '#base/clock.ts'
import type { CellPayer } from '#charging/cell-hold.ts'
import { createPayers, type Payers } from '#identity/payers.ts'
import { njPerDayOf } from '#ledger/budgets.ts'
import type { Queryable } from '#state/connect.ts'

export interface LimitedPayers {
  /** The budget is read at each call. Throws not_found for an account that does not exist. */
  payerOf(account: string, resource: string): Promise<CellPayer>
  forget: Payers['forget']
}

export function createLimitedPayers(state: Queryable): LimitedPayers {
  const payers = createPayers({ state, clock: systemClock })
  return {
    forget: payers.forget,
    async payerOf(account, resource) {
      const payer = await payers.payerOf(account)
      const njPerDay = await njPerDayOf(state, resource)
      return njPerDay === undefined ? payer : { ...payer, budgets: [resource], njPerDay }
    },
  }
}
