// A plan as data.
import type { DeploymentPlan } from '#contract/deployments/deployments.ts'
import type { StackParts } from '#resources/stack-part.ts'
import type { ResourceTypeName } from '#stack/resource-types.ts'
import type { Queryable } from '#state/connect.ts'

export type PlannedStep = Omit<DeploymentPlan['steps'][number], 'kind'> & {
  readonly kind: ResourceTypeName
  /** Addresses of steps that must be done before. */
  readonly needs: readonly string[]
  /** The id of the existing resource. */
  readonly resource: string | null
}

export type StackPlan = {
  readonly hash: string
  readonly steps: readonly PlannedStep[]
}

export type PlanDeps = {
  readonly state: Queryable
  readonly parts: StackParts
  /** The key that digests are made with. */
  readonly key: string
  /** Bills what was read of the description until now. */
  readonly mark: () => void
}
