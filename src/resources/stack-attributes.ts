// Attributes that several kinds of resources have.
import type { Nj } from '#base/units.ts'
import { printEnergyPerDay } from '#contract/values/energy-budget.ts'
import { fault } from '#contract/errors.ts'
import type { Pending } from '#stack/field.ts'
import { attributeOf, isPending, type StackAttributes } from './stack-part.ts'

/** The name of the attribute. */
export const BUDGET = 'energy_budget'
const NO_BUDGET = 'none'

export const wantedBudget = (perDay: Nj | Pending | undefined): StackAttributes => ({
  [BUDGET]: perDay === undefined ? NO_BUDGET : attributeOf(perDay, printEnergyPerDay),
})

export const foundBudget = (shown: { readonly energy_budget: string | null }): StackAttributes => ({
  [BUDGET]: shown.energy_budget ?? NO_BUDGET,
})

/** Throws invalid_request of another region than the node's. */
export function assertRegion(asked: string | Pending | undefined, own: string): void {
  if (asked === undefined || typeof asked !== 'string' || asked === 'auto' || asked === own) return
  throw fault('invalid_request', `There is no region "${asked}"; there are auto, ${own}`)
}

export type Variables = Readonly<Record<string, string | Pending>>

/** The blocks `secret` of a description. */
export const secretsOf = (
  secrets: readonly { readonly name: string; readonly value: string | Pending }[] = [],
): Variables => Object.fromEntries(secrets.map(({ name, value }) => [name, value]))

/** An attribute for each variable, such as env.KEY. Any may hold a secret, also where it is no `secret` of the description. */
export const variableAttributes = (
  prefix: 'env' | 'secret',
  variables: Variables | Pending,
): StackAttributes =>
  isPending(variables)
    ? { [prefix]: variables }
    : Object.fromEntries(
        Object.entries(variables).map(([name, value]) => [
          `${prefix}.${name}`,
          isPending(value) ? value : { hidden: value },
        ]),
      )
