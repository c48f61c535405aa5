// POST /v1/workloads/{id or name}/suspend and /resume, and DELETE /v1/workloads/{id or name}.
import { known, type Handler } from '#http/reply.ts'
import { recordAct, type Asker } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { findWorkload, workloadReplyOf } from './find-workload.ts'

type Deps = { readonly state: State; readonly settings: WorkloadGatewaySettings }

/** Sets the state that the account wants. */
const wishOf =
  ({ state, settings }: Deps, action: string, wanted: 'suspended' | 'deployed'): Handler<object> =>
  async (call) => {
    const { account } = callerOf(call.who)
    const { id } = await findWorkload(state, account, call.parameters['workload'] ?? '')
    await state.transaction(async (transaction) => {
      await recordAct(transaction, call, { action, target: id })
      await transaction.query('select want_resource($1, $2)', [id, wanted])
    })
    return known(workloadReplyOf(await findWorkload(state, account, id), settings))
  }

export const createWorkloadSuspend = (deps: Deps): Handler<object> =>
  wishOf(deps, 'workload.suspend', 'suspended')

export const createWorkloadResume = (deps: Deps): Handler<object> =>
  wishOf(deps, 'workload.resume', 'deployed')

/** It answers no more; the agent's reconciler removes what is left. */
export const createWorkloadDelete =
  ({ state }: Pick<Deps, 'state'>): Handler =>
  async (call) => {
    const { account } = callerOf(call.who)
    const { id } = await findWorkload(state, account, call.parameters['workload'] ?? '')
    await state.transaction((transaction) => deleteWorkload(transaction, call, id))
    return known({ id, object: 'workload', deleted: true })
  }

/** With its entry in the audit log. */
export async function deleteWorkload(
  transaction: Queryable,
  asker: Asker,
  id: string,
): Promise<void> {
  await recordAct(transaction, asker, { action: 'workload.delete', target: id })
  await transaction.query('select delete_workload($1)', [id])
}
