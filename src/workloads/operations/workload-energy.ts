// GET /v1/workloads/{id or name}/energy?since=: the charges of its cells and of its volumes, summed by the hour.
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import { msOfDuration } from '#contract/durations.ts'
import { rawNumber } from '#contract/raw-json.ts'
import { ENERGY_SINCE, parseWorkloadEnergyQuery } from '#contract/workload-replies.ts'
import type { Handler } from '#http/reply.ts'
import { askedResource } from '#http/resource-operations.ts'
import { sumResource, type ResourceEnergyRow } from '#ledger/resource-energy.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'
import { SHOWN_WORKLOADS } from './find-workload.ts'
import { WORKLOAD_LIMITED } from './limited-operations.ts'

const OPERATIONS = [...WORKLOAD_LIMITED, 'volume.standing'] as const

export const createWorkloadEnergy =
  ({ state, now }: { readonly state: State; readonly now: () => number }): Handler =>
  async (call) => {
    const { since = ENERGY_SINCE.byDefault } = parseWorkloadEnergyQuery(call.query())
    const { id: resource, account } = await askedResource(SHOWN_WORKLOADS, state, call)
    const to = new Date(now())
    const from = new Date(to.getTime() - (msOfDuration(since, ENERGY_SINCE) ?? 0))
    const span = { account, resource, operations: OPERATIONS, from, to }
    const rows = await inSnapshot(state, (snapshot) => sumResource(snapshot, span, 'hour'))
    const hours = Map.groupBy(rows, ({ at }) => at.toISOString())
    const reply = {
      object: 'workload.energy',
      from: from.toISOString(),
      to: to.toISOString(),
      ...figuresOf(rows),
      data: [...hours].map(([at, some]) => ({ at, ...figuresOf(some) })),
    }
    return { kind: 'known', status: 200, body: () => JSON.stringify(reply) }
  }

function figuresOf(rows: readonly ResourceEnergyRow[]) {
  const sumOf = (key: 'energy' | 'carbon' | 'charge') =>
    rows.reduce((sum, row) => sum + BigInt(row[key]), 0n)
  const energy = sumOf('energy')
  return {
    energy_j: rawNumber(printJoules(nj(energy))),
    carbon_mg: rawNumber(printMilligrams(pg(sumOf('carbon')))),
    energy_nj: energy.toString(),
    charge_pusd: sumOf('charge').toString(),
  }
}
