// Ends a step once its resource is as it should be, or will never be.
import { DEPLOYMENT_STEP_MS_MAX } from '#contract/deployments/deployment-limits.ts'
import { publicOutputs } from '#deployments/outputs.ts'
import { stackPartOf } from '#deployments/parts.ts'
import { digestsOf } from '#deployments/plan/compare.ts'
import type { StepRow } from '#deployments/rows.ts'
import type { FoundResource } from '#resources/stack-part.ts'
import { endStep } from './end-step.ts'
import { findStep } from './read-described.ts'
import type { DeploymentTurn } from './turn.ts'

export async function lookAtStep(turn: DeploymentTurn, step: StepRow): Promise<'ended' | 'waits'> {
  const found = await findStep(turn, step)
  const { progress = { failed: 'it was deleted by other means' } } = found ?? {}
  const startedMs = step.started_at?.getTime() ?? 0
  if (progress === 'waiting' && Date.now() - startedMs < DEPLOYMENT_STEP_MS_MAX) return 'waits'
  await turn.state.transaction(async (transaction) => {
    if (found !== undefined) await rememberApplied(transaction, turn, step, found)
    if (progress === 'ready') {
      const outputs = publicOutputs(found?.outputs ?? {}, stackPartOf(turn.parts, step.kind))
      return await endStep(transaction, turn, step, { status: 'done', outputs })
    }
    const fault =
      progress === 'waiting'
        ? {
            code: 'resource_late',
            message: `It is not there after ${DEPLOYMENT_STEP_MS_MAX / 1000} s`,
          }
        : {
            code: found === undefined ? 'resource_gone' : 'resource_failed',
            message: progress.failed,
          }
    await endStep(transaction, turn, step, { status: 'failed', fault })
  })
  return 'ended'
}

/** The attributes of now: a later plan compares them with those that it finds. */
const rememberApplied = async (
  transaction:
    | DeploymentTurn['state']
    | Parameters<Parameters<DeploymentTurn['state']['transaction']>[0]>[0],
  { deployment: { account, stack }, key }: DeploymentTurn,
  { address }: StepRow,
  { attributes }: FoundResource,
): Promise<void> =>
  void (await transaction.query(
    'update stack_resources set applied = $4 where account = $1 and stack = $2 and address = $3',
    [account, stack, address, JSON.stringify(digestsOf(attributes, key))],
  ))
