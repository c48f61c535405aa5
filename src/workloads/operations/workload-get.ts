// GET /v1/workloads and /v1/workloads/{id or name}.
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import type { Queryable } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { findWorkload, workloadReplyOf, workloadsOf } from './find-workload.ts'

type Deps = { readonly state: Queryable; readonly settings: WorkloadGatewaySettings }

export const createWorkloadList =
  ({ state, settings }: Deps): Handler =>
  async ({ who }) => {
    const rows = await workloadsOf(state, callerOf(who).account)
    const data = rows.map((row) => workloadReplyOf(row, settings))
    return known({ object: 'list', data, has_more: false, next_cursor: null })
  }

export const createWorkloadGet =
  ({ state, settings }: Deps): Handler =>
  async ({ who, parameters }) => {
    const row = await findWorkload(state, callerOf(who).account, parameters['workload'] ?? '')
    return known(workloadReplyOf(row, settings))
  }
