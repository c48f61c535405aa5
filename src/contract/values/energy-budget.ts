// Energy budgets as text: `5 kJ/day`, as the specification writes them.
import { z } from 'zod'
import { nj, printDecimal, type Nj } from '#base/units.ts'

const NJ_PER: Readonly<Record<string, bigint>> = {
  J: 10n ** 9n,
  kJ: 10n ** 12n,
  MJ: 10n ** 15n,
  Wh: 3600n * 10n ** 9n,
  kWh: 3600n * 10n ** 12n,
}
const BUDGET = /^(\d{1,9})(?:\.(\d{1,12}))? ?(J|kJ|MJ|Wh|kWh)\/day$/
/** Less than the start of a server and a few queries take. */
const BUDGET_MIN_NJ = 10n * 10n ** 9n
const BUDGET_MAX_NJ = 10n ** 21n
const FRACTION_DIGITS = 12

/** The energy of a budget for a day; undefined where the text is none, or out of range. */
export function energyPerDay(text: string): Nj | undefined {
  const [, whole, fraction = '', unit = ''] = BUDGET.exec(text) ?? []
  const perUnit = NJ_PER[unit]
  if (whole === undefined || perUnit === undefined) return undefined
  const scaled = BigInt(whole + fraction.padEnd(FRACTION_DIGITS, '0'))
  const energy = (scaled * perUnit) / 10n ** BigInt(FRACTION_DIGITS)
  return energy >= BUDGET_MIN_NJ && energy <= BUDGET_MAX_NJ ? nj(energy) : undefined
}

const PRINTED = [
  ['MJ', 15],
  ['kJ', 12],
] as const

/** The same energy in the greatest unit of which there is one: `3.6 MJ/day`. */
export function printEnergyPerDay(perDay: Nj): string {
  const [unit, places] = PRINTED.find(([, digits]) => perDay >= 10n ** BigInt(digits)) ?? ['J', 9]
  return `${printDecimal(perDay, places)} ${unit}/day`
}

export const energyBudget = z
  .string()
  .refine(
    (text) => energyPerDay(text) !== undefined,
    'must be an energy for a day in J, kJ, MJ, Wh or kWh, from 10 J/day to 1000000 MJ/day, such as 5 kJ/day',
  )
