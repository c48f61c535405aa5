// Refuses a plan that needs what others have, such as a route: its step would fail after others were done.
import { fault } from '#contract/errors.ts'
import { stackPartOf } from '#deployments/parts.ts'
import type { StackAttributes } from '#resources/stack-part.ts'
import { isSameAttribute } from './compare.ts'
import type { PlanDeps, PlannedStep } from './plan.ts'

type PlanInput = {
  readonly account: string
  /** All steps of the plan. */
  readonly steps: readonly PlannedStep[]
  /** Attributes of the description, by address. */
  readonly wanted: ReadonlyMap<string, StackAttributes>
}

/** Throws what the operation of `step` would refuse, and invalid_request where a step before it wants the same. */
export async function assertFree(
  { state, parts }: PlanDeps,
  step: PlannedStep,
  { account, steps, wanted }: PlanInput,
): Promise<void> {
  const { address, kind, name, action } = step
  const part = stackPartOf(parts, kind)
  const attributes = wanted.get(address)
  if (attributes === undefined || action === 'none') return
  for (const attribute of part.exclusive) {
    const rival = steps.find(
      (other) =>
        other.kind === kind &&
        other.address !== address &&
        isSameAttribute(wanted.get(other.address)?.[attribute], attributes[attribute]),
    )
    if (rival !== undefined)
      throw fault('invalid_request', `${rival.address} has the same ${attribute}`)
  }
  const besides = steps.flatMap(({ resource }) => resource ?? [])
  await part.assertFree?.(state, { account, name, attributes, besides })
}
