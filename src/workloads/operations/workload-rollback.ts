// POST /v1/workloads/{id or name}/rollback: an earlier version is wanted again.
import { fault } from '#contract/errors.ts'
import type { WorkloadRollback } from '#contract/workloads.ts'
import { known, type Handler } from '#http/reply.ts'
import { recordAct } from '#identity/audit.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
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
    await state.transaction(async (transaction) => {
      const { rows } = await transaction.query<{ version: number | null }>(
        'select roll_back_workload($1, $2) as version',
        [id, body.version ?? null],
      )
      const version = rows[0]?.version ?? undefined
      if (version === undefined)
        throw fault(
          'workload_version_not_found',
          `Could not roll "${name}" back: there is no ${body.version === undefined ? 'version before the live one' : `version ${body.version}`}`,
        )
      const details = { version }
      await recordAct(transaction, call, { action: 'workload.rollback', target: id, details })
    })
    return known(workloadReplyOf(await findWorkload(state, account, id), settings))
  }
