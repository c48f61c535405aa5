// A deployment that runs, as one turn sees it.
import type { Logger } from '#base/log.ts'
import type { DeploymentRow, StepRow } from '#deployments/rows.ts'
import type { StackParts } from '#resources/stack-part.ts'
import type { TurnState } from './counted-state.ts'

export type TurnDeps = {
  readonly state: TurnState
  readonly parts: StackParts
  /** Opens inputs, and keys digests. */
  readonly key: string
  readonly log: Logger
}

export type DeploymentTurn = TurnDeps & {
  readonly deployment: DeploymentRow
  readonly steps: readonly StepRow[]
}
