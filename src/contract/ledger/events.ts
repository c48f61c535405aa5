// The events of balances and energy budgets.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'

const pusd = z.string().regex(/^-?\d+$/)
const nj = z.string().regex(/^\d+$/)
/** Energy of a day of UTC. `resource_id` is a resource, or the first token that has the budget. */
const budget = { resource_id: z.string(), budget_nj: nj, used_nj: nj }
const unit = z.enum(['USD', 'tUSD'])

export const LEDGER_EVENTS = {
  'balance.low': eventOf('The balance fell below the low-water mark of the account.', {
    balance_pusd: pusd,
    low_water_pusd: pusd,
    unit,
  }),
  'balance.depleted': eventOf('The balance fell below the amount that admits a request.', {
    balance_pusd: pusd,
    unit,
  }),
  'energy_budget.warning': eventOf('Four fifths of the energy budget of the day are used.', budget),
  'energy_budget.exceeded': eventOf(
    'The energy budget of the day is used up: less is left than a start needs. What it limits is stopped.',
    budget,
  ),
} satisfies EventTable
