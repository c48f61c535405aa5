// The energy budget of a resource and its use, as a fact: the share, and what the whole is.
import { share } from '#console/figures/amounts.ts'

type Budgeted = {
  readonly energy_budget: string | null
  readonly energy_budget_used_j: number | null
}

const MILLIJOULES = 1_000
const UNITS_MJ: Readonly<Record<string, number>> = { J: 1e3, kJ: 1e6, MJ: 1e9 }

/** `what` runs: its server, its process. */
export function budgetWords(
  { energy_budget, energy_budget_used_j }: Budgeted,
  what: string,
): readonly [string, string] {
  if (energy_budget === null) return ['none', `nothing stops ${what} but the balance`]
  const used = BigInt(Math.round((energy_budget_used_j ?? 0) * MILLIJOULES))
  return [share(used, perDay(energy_budget)), `of ${energy_budget}; stops at 100 %`]
}

/** Millijoules of "5 kJ/day", as the API prints budgets. */
function perDay(budget: string): bigint {
  const [figure = '0', unit = 'J'] = budget.replace('/day', '').split(' ')
  return BigInt(Math.round(Number(figure) * (UNITS_MJ[unit] ?? 0)))
}
