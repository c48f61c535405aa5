// GET /v1/workloads/{id or name}/energy?since=: the charges of its cells, its volumes and its images, summed by the hour.
import { msOfDuration } from '#contract/values/durations.ts'
import { ENERGY_SINCE, parseWorkloadEnergyQuery } from '#contract/workloads/workload-replies.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { shownEnergy, sumResource } from '#ledger/resource-energy.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'
import { SHOWN_WORKLOADS } from '#workloads/find-workload.ts'
import { WORKLOAD_LIMITED } from '#workloads/limited-operations.ts'

const OPERATIONS = [...WORKLOAD_LIMITED, 'volume.standing', 'image.standing'] as const

export const createWorkloadEnergy =
  ({ state, now }: { readonly state: State; readonly now: () => number }): Handler =>
  async (call) => {
    const { since = ENERGY_SINCE.byDefault } = parseWorkloadEnergyQuery(call.query())
    const { id: resource, account } = await askedResource(SHOWN_WORKLOADS, state, call)
    const to = new Date(now())
    const from = new Date(to.getTime() - (msOfDuration(since, ENERGY_SINCE) ?? 0))
    const span = { account, resource, operations: OPERATIONS, from, to }
    const rows = await inSnapshot(state, (snapshot) => sumResource(snapshot, span, 'hour'))
    const reply = {
      object: 'workload.energy',
      from: from.toISOString(),
      to: to.toISOString(),
      ...shownEnergy(rows),
    }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }
