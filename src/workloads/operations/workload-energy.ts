// GET /v1/workloads/{id or name}/energy?since=: the charges of its cells, its volumes and its images, summed by the hour.
import { parseHourlyEnergyQuery } from '#contract/resources/hourly-energy.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { hourlyEnergy } from '#resources/hourly-energy.ts'
import type { State } from '#state/connect.ts'
import { SHOWN_WORKLOADS } from '#workloads/find-workload.ts'
import { WORKLOAD_LIMITED } from '#workloads/limited-operations.ts'

const operations = [...WORKLOAD_LIMITED, 'volume.standing', 'image.standing'] as const

export const createWorkloadEnergy =
  ({ state, now }: { readonly state: State; readonly now: () => number }): Handler =>
  async (call) => {
    const { since } = parseHourlyEnergyQuery(call.query())
    const { id: resource, account } = await askedResource(SHOWN_WORKLOADS, state, call)
    const asked = { account, resource, operations, since, nowMs: now() }
    const reply = { object: 'workload.energy', ...(await hourlyEnergy(state, asked)) }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }
