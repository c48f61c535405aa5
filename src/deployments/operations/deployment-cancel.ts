// DELETE /v1/deployments/{id}: ends a running deployment where it is. Another deployment of its stack may follow at once.
import { fault } from '#contract/errors.ts'
import { CHANGING, deploymentReplyOf, deploymentSteps, findDeployment } from '#deployments/rows.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'

/** Of a step whose change is made, and was not there yet. */
const UNSEEN = {
  code: 'deployment_cancelled',
  message: 'The deployment was cancelled before this was there: its change is made, and goes on',
}

export const createDeploymentCancel =
  ({ state }: { readonly state: State }): Handler =>
  async (call) => {
    const { account } = callerOf(call)
    const { id } = await findDeployment(state, account, call.parameters['deployment'] ?? '')
    const reply = await state.transaction(async (transaction) => {
      const { rows } = await transaction.query<{ cancelled: boolean }>(
        'select cancel_deployment($1, $2) as cancelled',
        [id, JSON.stringify(UNSEEN)],
      )
      const isNew = rows[0]?.cancelled === true
      const row = await findDeployment(transaction, account, id)
      // A repeated request is answered as the first was.
      if (row.status !== 'cancelled')
        throw fault('deployment_ended', `Could not cancel ${id}: it is ${row.status}`)
      const steps = await deploymentSteps(transaction, id)
      if (isNew) {
        const done = steps.filter(({ status, action }) => status === 'done' && CHANGING.has(action))
        const details = { stack: row.stack, done: done.map(({ address }) => address) }
        await recordAct(transaction, call, { action: 'deployment.cancel', target: id, details })
      }
      return deploymentReplyOf(row, steps)
    })
    return known(reply)
  }
