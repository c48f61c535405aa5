// The beginning and the end of a step.
import type { DeploymentReply } from '#contract/deployments.ts'
import type { StepRow } from '#deployments/rows.ts'
import type { Queryable } from '#state/connect.ts'
import type { DeploymentTurn } from './turn.ts'

type Step = DeploymentReply['steps'][number]
type Ended =
  | { readonly status: 'done'; readonly outputs?: Step['outputs'] }
  | { readonly status: 'failed'; readonly fault: NonNullable<Step['fault']> }

/** The change is made: from now on it is looked at until it is there. */
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

export const endStep = async (
  state: Queryable,
  { deployment }: Pick<DeploymentTurn, 'deployment'>,
  { place }: StepRow,
  ended: Ended,
): Promise<void> =>
  void (await state.query(
    `update deployment_steps set status = $3, outputs = $4, fault = $5, ended_at = ledger_now(),
       started_at = coalesce(started_at, ledger_now())
     where deployment = $1 and place = $2`,
    [
      deployment.id,
      place,
      ended.status,
      JSON.stringify(ended.status === 'done' ? (ended.outputs ?? {}) : {}),
      ended.status === 'failed' ? JSON.stringify(ended.fault) : null,
    ],
  ))
