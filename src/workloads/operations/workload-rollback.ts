// POST /v1/workloads/{id or name}/rollback: an earlier version is wanted again.
import { rollBackOf } from '#resources/roll-back.ts'
import { workloadRefusal } from './deploy-workload.ts'

export const rollBackWorkload = rollBackOf({
  kind: 'workload',
  notFound: 'workload_version_not_found',
  condition: ' whose volumes are there',
  refusalOf: workloadRefusal,
})
