// The events of accounts: balance, energy budgets and tokens.
import { z } from 'zod'
import { eventOf, type EventTable } from '#contract/event.ts'
import { SCOPES } from '#contract/operation.ts'

const pusd = z.string().regex(/^-?\d+$/)
const nj = z.string().regex(/^\d+$/)
/** Of a day of UTC. `resource_id` is a resource, or the first token that has the budget. */
const budget = { resource_id: z.string(), budget_nj: nj, used_nj: nj }
const unit = z.enum(['USD', 'tUSD'])

export const ACCOUNTS_EVENTS = {
  'balance.low': eventOf('The balance fell below the low-water mark of the account.', {
    balance_pusd: pusd,
    low_water_pusd: pusd,
    unit,
  }),
  'balance.depleted': eventOf('The balance fell below the amount that admits a request.', {
    balance_pusd: pusd,
    unit,
  }),
  'account.deletion_requested': eventOf('Somebody asked for the deletion of the account.', {
    deletes_at: z.iso.datetime().meta({ example: '2026-01-08T00:00:00.000Z' }),
  }),
  'account.restored': eventOf('The deletion of the account was taken back.', {}),
  'account.suspended': eventOf('The operator suspended the account.', { reason: z.string() }),
  'account.resumed': eventOf('The operator ended the suspension of the account.', {}),
  'energy_budget.warning': eventOf('Four fifths of the energy budget of the day are used.', budget),
  'energy_budget.exceeded': eventOf(
    'The energy budget of the day is used up: less is left than a start needs. What it limits is stopped.',
    budget,
  ),
  'token.exposed': eventOf('A token was seen in an address; at most once an hour for each token.', {
    token_id: z.string(),
    name: z.string(),
    /** The first characters of the token. */
    hint: z.string(),
    scope: z.enum(SCOPES),
  }),
} satisfies EventTable
