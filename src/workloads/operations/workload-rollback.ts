// POST /v1/workloads/{id or name}/rollback: an earlier version is wanted again.
import { fault } from '#contract/errors.ts'
import type { WorkloadRollback } from '#contract/workloads.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct, type Asker } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable, State } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { workloadRefusal } from './deploy-workload.ts'
import { findWorkload, workloadReplyOf } from './find-workload.ts'

export const createWorkloadRollback =
  ({
    state,
    settings,
  }: {
    readonly state: State
    readonly settings: WorkloadGatewaySettings
  }): Handler<WorkloadRollback> =>
  async (call) => {
    const { who, parameters, body } = call
    const { account } = callerOf(who)
    const { id, name } = await findWorkload(state, account, parameters['workload'] ?? '')
    await state.transaction((transaction) =>
      rollBackWorkload(transaction, call, { id, name, version: body.version }),
    )
    return known(workloadReplyOf(await findWorkload(state, account, id), settings))
  }

type Back = { readonly id: string; readonly name: string; readonly version: number | undefined }

/** With its entry in the audit log. Throws workload_version_not_found. */
export async function rollBackWorkload(
  transaction: Queryable,
  asker: Asker,
  { id, name, version: asked }: Back,
): Promise<void> {
  const { rows } = await transaction
    .query<{ version: number | null }>('select roll_back_workload($1, $2) as version', [
      id,
      asked ?? null,
    ])
    .catch((error: unknown) => {
      throw workloadRefusal(error, name)
    })
  const version = rows[0]?.version ?? undefined
  if (version === undefined)
    throw fault(
      'workload_version_not_found',
      `Could not roll "${name}" back: there is no ${asked === undefined ? 'version before the live one' : `version ${asked}`} whose volumes are there`,
    )
  const details = { version }
  await recordAct(transaction, asker, { action: 'workload.rollback', target: id, details })
}
