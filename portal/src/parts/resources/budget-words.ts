// The energy budget of a resource and its use, as a fact: the share, and what the whole is.
import { share } from '#console/figures/amounts.ts'
import { energyShort } from '#console/figures/energy.ts'

type Budgeted = {
  readonly energy_budget: string | null
  readonly energy_budget_used_j: number | null
}

const NJ_PER_J = 1e9
const UNITS_NJ: Readonly<Record<string, number>> = { J: 1e9, kJ: 1e12, MJ: 1e15 }

/** `what` runs: its server, its process. */
export function budgetWords(
  { energy_budget, energy_budget_used_j }: Budgeted,
  what: string,
): readonly [string, string] {
  if (energy_budget === null) return ['none', `nothing stops ${what} but the balance`]
  return [
    share(usedNj(energy_budget_used_j), perDayNj(energy_budget)),
    `of ${energy_budget}; stops at 100 %`,
  ]
}

/** 358 mJ of 5 kJ; undefined without a budget. */
export const budgetUse = ({ energy_budget, energy_budget_used_j }: Budgeted): string | undefined =>
  energy_budget === null
    ? undefined
    : `${energyShort(usedNj(energy_budget_used_j))} of ${energy_budget.replace('/day', '')}`

/** The API has joules as a number here. */
const usedNj = (joules: number | null): bigint => BigInt(Math.round((joules ?? 0) * NJ_PER_J))

/** Nanojoules of "5 kJ/day", as the API prints budgets. */
function perDayNj(budget: string): bigint {
  const [figure = '0', unit = 'J'] = budget.replace('/day', '').split(' ')
  return BigInt(Math.round(Number(figure) * (UNITS_NJ[unit] ?? 0)))
}
