// PATCH /v1/workloads/{id or name}, and its scale.
import type { WorkloadChange, WorkloadScale } from '#contract/workloads/workloads.ts'
import { known, type Handler, type Reply } from '#http/reply.ts'
import type { State } from '#state/connect.ts'
import type { WorkloadGatewaySettings } from '#workloads/settings.ts'
import { changeWorkload } from './workload-deploy.ts'
import { SHOWN_WORKLOADS } from '#workloads/find-workload.ts'

type Deps = { readonly state: State; readonly settings: WorkloadGatewaySettings }

export const createWorkloadUpdate =
  (deps: Deps): Handler<WorkloadChange> =>
  (call) =>
    changed(deps, call, { action: 'workload.update', change: call.body })

/** POST /v1/workloads/{id or name}/scale. */
export const createWorkloadScale =
  (deps: Deps): Handler<WorkloadScale> =>
  (call) =>
    changed(deps, call, { action: 'workload.scale', change: { scale: call.body } })

async function changed(
  { state, settings }: Deps,
  call: Parameters<Handler<unknown>>[0],
  given: Pick<Parameters<typeof changeWorkload>[2], 'action' | 'change'>,
): Promise<Reply> {
  const workload = call.parameters['workload'] ?? ''
  const made = await state.transaction((transaction) =>
    changeWorkload(transaction, call, { ...given, workload, settings }),
  )
  return known(SHOWN_WORKLOADS.replyOf(made, settings))
}
