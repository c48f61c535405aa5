// The energy budget of a resource and its use, as a fact: the share, and what the whole is.
import { share } from '#console/figures/amounts.ts'
import { energyShort } from '#console/figures/energy.ts'
import {
  isBudgetUsedUp,
  printedNjPerDay,
  usedNj,
  type Budgeted,
} from '#contract/values/printed-budget.ts'

/** `what` runs: its server, its process. */
export function budgetWords(budgeted: Budgeted, what: string): readonly [string, string] {
  const { energy_budget, energy_budget_used_j } = budgeted
  if (energy_budget === null) return ['none', `nothing stops ${what} but the balance`]
  return [
    share(usedNj(energy_budget_used_j), printedNjPerDay(energy_budget)),
    `of ${energy_budget}; ${isBudgetUsedUp(budgeted) ? 'used up until 00:00 UTC' : 'stops at 100 %'}`,
  ]
}

/** 358 mJ of 5 kJ; undefined without a budget. */
export const budgetUse = ({ energy_budget, energy_budget_used_j }: Budgeted): string | undefined =>
  energy_budget === null
    ? undefined
    : `${energyShort(usedNj(energy_budget_used_j))} of ${energy_budget.replace('/day', '')}`
