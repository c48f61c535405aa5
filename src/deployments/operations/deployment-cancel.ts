// DELETE /v1/deployments/{id}: ends a running deployment where it is. Another deployment of its stack may follow at once.
import { fault } from '#contract/errors.ts'
import {
  CHANGING,
  deploymentReplyOf,
  deploymentSteps,
  findDeployment,
  type StepRow,
} from '#deployments/rows.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'

const cancelled = (why: string) => ({
  code: 'deployment_cancelled',
  message: `The deployment was cancelled ${why}`,
})

/** Of a step whose change is made, and was not there yet. */
const UNSEEN = cancelled('before this was there: its change is made, and goes on')

/** Faults of the steps that run, by action. A removal runs where pieces of the resource are gone. */
const FAULTS = {
  adopt: UNSEEN,
  create: UNSEEN,
  update: UNSEEN,
  delete: cancelled('before all of this was gone: the change has begun and is partly made'),
}

export const createDeploymentCancel =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { account } = callerOf(call)
    const { id } = await findDeployment(state, account, call.parameters['deployment'] ?? '')
    const reply = await state.transaction(async (transaction) => {
      const { rows } = await transaction.query<{ cancelled: boolean }>(
        'select cancel_deployment($1, $2) as cancelled',
        [id, JSON.stringify(FAULTS)],
      )
      const isNew = rows[0]?.cancelled === true
      const row = await findDeployment(transaction, account, id)
      // A repeated request is answered as the first was.
      if (row.status !== 'cancelled')
        throw fault('deployment_ended', `Could not cancel ${id}: it is ${row.status}`)
      const steps = await deploymentSteps(transaction, id)
      if (isNew) {
        const addressesOf = (those: readonly StepRow[]) => those.map(({ address }) => address)
        const changing = steps.filter(({ action }) => CHANGING.has(action))
        const details = {
          stack: row.stack,
          done: addressesOf(changing.filter(({ status }) => status === 'done')),
          begun: addressesOf(changing.filter(({ fault }) => fault?.code === UNSEEN.code)),
        }
        await recordAct(transaction, call, { action: 'deployment.cancel', target: id, details })
      }
      return deploymentReplyOf(row, steps)
    })
    return known(reply)
  }
