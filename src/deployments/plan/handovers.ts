// Handovers: a resource of the description gives up a thing that only one may have, such as a route. It changes before the
// resource that takes the thing.
import type { StackAttributes, StackParts } from '#resources/stack-part.ts'
import { fault } from '#contract/errors.ts'
import { stackPartOf } from '#deployments/parts.ts'
import { isSameAttribute } from './compare.ts'
import type { PlannedStep } from './plan.ts'

type ByAddress = ReadonlyMap<string, StackAttributes>

/** The steps with further needs. Throws description_invalid of steps that would wait for each other. */
export function withHandovers(
  parts: StackParts,
  steps: readonly PlannedStep[],
  { wanted, found }: { readonly wanted: ByAddress; readonly found: ByAddress },
): PlannedStep[] {
  const needs = new Map(steps.map((step) => [step.address, [...step.needs]]))
  for (const taker of steps)
    for (const giver of steps) {
      const given = stackPartOf(parts, taker.kind).exclusive.find(
        (name) =>
          giver.kind === taker.kind &&
          giver.address !== taker.address &&
          isSameAttribute(found.get(giver.address)?.[name], wanted.get(taker.address)?.[name]),
      )
      if (given === undefined) continue
      if (reaches(needs, giver.address, taker.address))
        throw fault(
          'description_invalid',
          `Could not plan: ${giver.address} and ${taker.address} exchange their ${given}; deploy another ${given} for one of them first`,
          { details: { line: taker.line, column: taker.column } },
        )
      needs.get(taker.address)?.push(giver.address)
    }
  return steps.map((step) => ({ ...step, needs: needs.get(step.address) ?? [] }))
}

function reaches(needs: ReadonlyMap<string, readonly string[]>, from: string, to: string): boolean {
  const seen = new Set([from])
  for (const address of seen) for (const next of needs.get(address) ?? []) seen.add(next)
  return seen.has(to)
}
