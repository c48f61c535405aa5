// A step of a deployment. One transaction changes the resource and marks the step as done, so a kill makes no change twice.
import { fault } from '#contract/errors.ts'
import { stackPartOf } from '#deployments/parts.ts'
import { changedNames } from '#deployments/plan/compare.ts'
import { disown, findOwned, isFree, lockOwned, own } from '#deployments/plan/owned.ts'
import type { StepRow } from '#deployments/rows.ts'
import type { ActingCall } from '#identity/audit.ts'
import { resourceFailure, isPending, type StackAttributes } from '#resources/stack-part.ts'
import type { Queryable } from '#state/connect.ts'
import type { ResourceStack, StackResource } from '#stack/stack.ts'
import { endStep, failStep, startStep } from './end-step.ts'
import type { ReadDescribed } from './read-described.ts'
import type { DeploymentTurn } from './turn.ts'
import { withoutHidden } from './without-hidden.ts'

/** A refusal ends the step. Throws while the state is away. */
export async function applyStep(
  turn: DeploymentTurn,
  step: StepRow,
  read: () => Promise<ReadDescribed>,
): Promise<void> {
  const { state } = turn
  try {
    if (step.action === 'delete') await state.transaction((it) => remove(it, turn, step))
    else {
      const again = await read()
      const { address } = step
      await state
        .transaction((it) => change(it, turn, step, again))
        .catch((error: unknown) => {
          throw withoutHidden(error, address, {
            revealed: resourceAt(again.described.revealed, address)?.spec,
            shown: resourceAt(again.described.shown, address)?.spec,
          })
        })
    }
  } catch (error) {
    await failStep(turn, step, error)
  }
}

const resourceAt = ({ resources }: ResourceStack, address: string): StackResource | undefined =>
  resources.find((one) => one.address === address)

const callOf = ({ deployment: { account, token, request } }: DeploymentTurn): ActingCall => ({
  caller: { account, token },
  spend: { requestId: request },
})

async function change(
  transaction: Queryable,
  turn: DeploymentTurn,
  step: StepRow,
  { input, described }: ReadDescribed,
): Promise<void> {
  if (!(await isStill(transaction, turn, step, ['waiting']))) return
  const { account } = turn.deployment
  const { address, kind, name } = step
  const resource = resourceAt(described.revealed, address)
  if (resource === undefined) throw fault('description_invalid', `Could not find ${address}`)
  const part = stackPartOf(turn.parts, kind)
  await lockOwned(transaction, account)
  const wish = { account, name, spec: resource.spec as never, files: input.files }
  const target = { account, name, spec: wish.spec, id: step.resource ?? undefined }
  const seen = await part.find(transaction, target)
  const isOwn =
    seen !== undefined &&
    (await isFree(transaction, turn.deployment, { kind, address, resource: seen.id }))
  const found = isOwn ? seen : undefined
  if (found !== undefined && found.id !== step.resource)
    throw fault(
      'plan_changed',
      `Could not apply ${address}: there is one by now that was not there for the plan`,
    )
  const wanted = part.wanted(wish)
  assertKnown(address, wanted)
  const changed = changedNames(found?.attributes, wanted)
  const id =
    found !== undefined && changed.size === 0 && resourceFailure(found) === undefined
      ? found.id
      : await part.apply(transaction, callOf(turn), { wish, found, changed })
  const { needs } = resource
  const owned = { address, kind, name, resource: id, needs: [...needs], applied: null }
  await own(transaction, turn.deployment, owned)
  await startStep(transaction, turn, step, id)
}

function assertKnown(address: string, wanted: StackAttributes): void {
  for (const [name, value] of Object.entries(wanted))
    if (isPending(value))
      throw fault(
        'description_invalid',
        `Could not apply ${address}: ${name} needs ${value.pending.join(', ')}, which is not known`,
      )
}

async function remove(transaction: Queryable, turn: DeploymentTurn, step: StepRow): Promise<void> {
  if (!(await isStill(transaction, turn, step, ['waiting', 'running']))) return
  const { deployment } = turn
  const { address, kind, name, resource } = step
  const part = stackPartOf(turn.parts, kind)
  const owned = { account: deployment.account, name, resource }
  const found = await findOwned(transaction, part, owned)
  if (found?.holds !== undefined && !deployment.allows_deletion) {
    const message = `Could not delete ${address}: it holds data: ${found.holds}`
    const fault = { code: 'resource_holds_data', message }
    return await endStep(transaction, turn, step, { status: 'failed', fault })
  }
  if (found !== undefined && (await part.remove(transaction, callOf(turn), found)) === 'more') {
    if (step.status === 'waiting') await startStep(transaction, turn, step, found.id)
    return
  }
  await disown(transaction, deployment, address)
  await endStep(transaction, turn, step, { status: 'done' })
}

/** Another turn may have done the step, or a cancellation ended it. */
async function isStill(
  transaction: Queryable,
  { deployment }: DeploymentTurn,
  { place }: StepRow,
  statuses: readonly StepRow['status'][],
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    'select from deployment_steps where deployment = $1 and place = $2 and status = any ($3) for update',
    [deployment.id, place, statuses],
  )
  return rowCount > 0
}
