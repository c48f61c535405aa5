// POST /v1/workloads/{id or name}/rollback: an earlier version is wanted again.
import { present } from '#base/errors.ts'
import { rollBackOf, type RollBack } from '#resources/roll-back.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { workloadRefusal } from './workload-deploy.ts'
import { volumeQuota } from '#workloads/volumes/volume-quota.ts'

const rollBack = rollBackOf({
  kind: 'workload',
  notFound: 'workload_version_not_found',
  refusalOf: workloadRefusal,
})

/** Throws volume_quota_exceeded where the earlier version has larger volumes than the account may have. */
export const createWorkloadRollBack =
  (settings: Pick<WorkloadGatewaySettings, 'volumeBytesMax'>): RollBack =>
  async (transaction, call, asked) => {
    const { account } = present(call.caller, 'a rollback is asked for with a token')
    const assertVolumes = await volumeQuota(transaction, account, settings)
    await rollBack(transaction, call, asked)
    await assertVolumes()
  }
