// An energy budget as the API prints it, `5 kJ/day`, for programs without schemas.
const UNITS_NJ: Readonly<Record<string, number>> = { J: 1e9, kJ: 1e12, MJ: 1e15 }
const NJ_PER_J = 1e9
/** Less starts nothing: the start of a server takes as much. */
const LEFT_LEAST_NJ = 1_000_000_000n

export type Budgeted = {
  readonly energy_budget: string | null
  readonly energy_budget_used_j: number | null
}

export function printedNjPerDay(budget: string): bigint {
  const [figure = '0', unit = 'J'] = budget.replace('/day', '').split(' ')
  return BigInt(Math.round(Number(figure) * (UNITS_NJ[unit] ?? 0)))
}

/** The API has joules as a number here. */
export const usedNj = (joules: number | null): bigint =>
  BigInt(Math.round((joules ?? 0) * NJ_PER_J))

/** True where nothing starts until 00:00 UTC, or until the budget is raised. */
export const isBudgetUsedUp = ({ energy_budget, energy_budget_used_j }: Budgeted): boolean =>
  energy_budget !== null &&
  printedNjPerDay(energy_budget) - usedNj(energy_budget_used_j) < LEFT_LEAST_NJ
