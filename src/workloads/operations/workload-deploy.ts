// POST /v1/workloads: writes down a version; the agent's reconciler makes it live once it is ready.
import type { WorkloadRequest } from '#contract/workloads.ts'
import { known, type Handler } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { deployWorkload } from './deploy-workload.ts'
import { workloadReplyOf } from './find-workload.ts'

export const createWorkloadDeploy =
  (deps: {
    readonly state: State
    readonly settings: WorkloadGatewaySettings
  }): Handler<WorkloadRequest> =>
  async (call) => {
    const { state, settings } = deps
    const made = await state.transaction((transaction) =>
      deployWorkload(transaction, call, { request: call.body, settings }),
    )
    return known(workloadReplyOf(made, settings), 201)
  }
