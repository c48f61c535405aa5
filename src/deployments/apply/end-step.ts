// The beginning and the end of a step.
import { ErgonError } from '#base/errors.ts'
import type { DeploymentReply } from '#contract/deployments/deployments.ts'
import { fault } from '#contract/errors.ts'
import type { StepRow } from '#deployments/rows.ts'
import { isStateAway, type Queryable } from '#state/connect.ts'
import type { DeploymentTurn } from './turn.ts'

type Step = DeploymentReply['steps'][number]
type Ended =
  | { readonly status: 'done'; readonly outputs?: Step['outputs'] }
  | { readonly status: 'failed'; readonly fault: NonNullable<Step['fault']> }

/** The change is made, and is looked at until it is there; or the first piece of a removal is. */
export const startStep = async (
  transaction: Queryable,
  { deployment }: Pick<DeploymentTurn, 'deployment'>,
  { place }: StepRow,
  resource: string,
): Promise<void> =>
  void (await transaction.query(
    `update deployment_steps set status = 'running', resource = $3, started_at = ledger_now()
     where deployment = $1 and place = $2`,
    [deployment.id, place, resource],
  ))

/** A step that has ended stays as it is: its deployment was cancelled meanwhile. */
export const endStep = async (
  state: Queryable,
  { deployment }: { readonly deployment: { readonly id: string } },
  { place }: StepRow,
  ended: Ended,
): Promise<void> =>
  void (await state.query(
    `update deployment_steps set status = $3, outputs = $4, fault = $5, ended_at = ledger_now(),
       started_at = coalesce(started_at, ledger_now())
     where deployment = $1 and place = $2 and status in ('waiting', 'running')`,
    [
      deployment.id,
      place,
      ended.status,
      JSON.stringify(ended.status === 'done' ? (ended.outputs ?? {}) : {}),
      ended.status === 'failed' ? JSON.stringify(ended.fault) : null,
    ],
  ))

/** Ends a step by its error. Throws that while the state is away: the step goes on later. */
export async function failStep(turn: DeploymentTurn, step: StepRow, error: unknown): Promise<void> {
  if (isStateAway(error)) throw error
  const known = error instanceof ErgonError ? error : undefined
  if (known === undefined)
    turn.log.error('A step could not be done', {
      deployment: turn.deployment.id,
      step: step.address,
      error,
    })
  const { code, message } = known ?? fault('internal', 'Could not do the step')
  await endStep(turn.state, turn, step, { status: 'failed', fault: { code, message } })
}
