// A turn of a deployment: checks the changed resources, changes those that can be changed now, and ends the deployment
// when none is left.
import { onceDone } from '#base/once-done.ts'
import { deploymentsWhere, deploymentSteps, type StepRow } from '#deployments/rows.ts'
import { isStateAway } from '#state/connect.ts'
import { applyStep } from './apply-step.ts'
import { askerRefusal } from './asker-refusal.ts'
import { endedOutputs } from './ended-outputs.ts'
import { endStep, failStep } from './end-step.ts'
import { lookAtStep } from './look-at-step.ts'
import { readDescribed } from './read-described.ts'
import type { DeploymentTurn, TurnDeps } from './turn.ts'

/**
 * `changed`: the next turn has something to do at once. Throws while the state is away; any other fault ends the
 * deployment.
 */
export const takeTurn = (deps: TurnDeps, id: string): Promise<'changed' | 'waits'> =>
  goOn(deps, id).catch(async (error: unknown) => {
    if (isStateAway(error)) throw error
    deps.log.error('A deployment could not go on', { deployment: id, error })
    await giveUp(deps.state, id, STUCK)
    return 'changed' as const
  })

async function goOn(deps: TurnDeps, id: string): Promise<'changed' | 'waits'> {
  const [deployment] = await deploymentsWhere(deps.state, "d.id = $2 and d.status = 'running'", [
    id,
  ])
  if (deployment === undefined) return 'waits'
  const steps = await deploymentSteps(deps.state, id)
  const turn: DeploymentTurn = { ...deps, deployment, steps }
  const begun = steps.filter(({ status }) => status === 'running')
  const running = begun.filter(({ action }) => action !== 'delete')
  const looked = await Promise.all(running.map((step) => lookOrFail(turn, step)))
  if (looked.includes('ended')) return 'changed'
  const removals = begun.filter(({ action }) => action === 'delete')
  const next = steps.some(({ status }) => status === 'failed') ? [] : readyOf(steps)
  const ready = [...removals, ...next]
  if (ready.length === 0 && running.length > 0) return 'waits'
  if (ready.length === 0) await end(turn)
  else await applyAll(turn, ready)
  return 'changed'
}

const STUCK = { code: 'internal', message: 'Could not go on with the deployment' }

const lookOrFail = (turn: DeploymentTurn, step: StepRow) =>
  lookAtStep(turn, step).catch(async (error: unknown) => {
    await failStep(turn, step, error)
    return 'ended' as const
  })

/** Steps whose needs are done; a need that is no step is there already. */
function readyOf(steps: readonly StepRow[]): StepRow[] {
  const open = new Set(
    steps.filter(({ status }) => status !== 'done').map(({ address }) => address),
  )
  return steps.filter(
    ({ status, needs }) => status === 'waiting' && !needs.some((address) => open.has(address)),
  )
}

async function applyAll(turn: DeploymentTurn, ready: readonly StepRow[]): Promise<void> {
  const needed = new Set(ready.flatMap(({ needs }) => needs))
  const read = onceDone(() => readDescribed(turn, needed))
  for (const step of ready) {
    const refusal = await askerRefusal(turn, step)
    if (refusal !== undefined) return await failStep(turn, step, refusal)
    await applyStep(turn, step, read)
  }
}

async function end(turn: DeploymentTurn): Promise<void> {
  const { state, deployment, steps } = turn
  const isDone = steps.every(({ status }) => status === 'done')
  const outputs = isDone ? await outputsOf(turn) : []
  await state.query('select end_deployment($1, $2, $3)', [
    deployment.id,
    isDone ? 'done' : 'failed',
    JSON.stringify(outputs),
  ])
}

/** A fault here is no fault of the made resources. */
const outputsOf = (turn: DeploymentTurn) =>
  endedOutputs(turn).catch((error: unknown) => {
    if (isStateAway(error)) throw error
    turn.log.error('Outputs could not be read', { deployment: turn.deployment.id, error })
    return []
  })

/** Ends the deployment, with the fault at its steps that run, or at the next one. */
export const giveUp = (
  state: TurnDeps['state'],
  id: string,
  fault: { readonly code: string; readonly message: string },
): Promise<void> =>
  state.transaction(async (transaction) => {
    const deployment = { id }
    const steps = await deploymentSteps(transaction, id)
    const running = steps.filter(({ status }) => status === 'running')
    const waiting = steps.filter(({ status }) => status === 'waiting')
    for (const step of running.length > 0 ? running : waiting.slice(0, 1))
      await endStep(transaction, { deployment }, step, { status: 'failed', fault })
    await transaction.query("select end_deployment($1, 'failed', '[]')", [id])
  })
