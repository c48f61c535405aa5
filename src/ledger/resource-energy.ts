// The charges of a resource in a span of time, summed from the charges themselves; of bundled ones whole hours from the
// sums that bundling keeps.
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import type { OperationName } from '#contract/operations.ts'
import { rawNumber } from '#contract/values/raw-json.ts'
import type { Queryable } from '#state/connect.ts'
import { bundledMinutes, bundledRows, bundledSums, wholeHours } from './bundles/bundled-sums.ts'
import { endsIn } from './usage.ts'

export type ResourceSpan = {
  readonly account: string
  /** The id of the resource. */
  readonly resource: string
  /** The operations whose charges count. */
  readonly operations: readonly OperationName[]
  readonly from: Date
  readonly to: Date
}

export type ResourceEnergyRow = {
  readonly at: Date
  readonly operation: string
  readonly energy: string
  readonly carbon: string
  readonly charge: string
}

/** The sums of [from, to) by operation and step of time. To be asked in one snapshot, as charges may be bundled meanwhile. */
export async function sumResource(
  state: Queryable,
  { account, resource, operations, from, to }: ResourceSpan,
  step: 'minute' | 'hour' | 'day',
): Promise<readonly ResourceEnergyRow[]> {
  const span = { account, resource, from, to }
  // An hour of minutes is in no kept sum.
  const hours = step === 'minute' ? { first: to, last: to } : wholeHours(span)
  const bundled = await (step === 'minute' ? bundledMinutes : bundledSums)(state, span)
  const { rows } = await state.query<ResourceEnergyRow>(
    `select date_trunc($5, used.at, 'UTC') as at, operation, sum(energy_nj)::text as energy,
       sum(carbon_pg)::text as carbon, sum(charge_pusd)::text as charge
     from (
       select to_at as at, operation, energy_nj, carbon_pg, charge_pusd
       from charges where account = $1 and resource = $2 and ${endsIn('$3', '$4')}
       union all
       select hour, operation, energy_nj, carbon_pg, charge_pusd
       from bundled_resource_hours where account = $1 and resource = $2 and hour >= $7 and hour < $8
       union all
       select at, operation, energy_nj, carbon_pg, charge_pusd from ${bundledRows('$9')} bundled
     ) used where operation = any($6) group by 1, 2 order by 1, 2`,
    [
      account,
      resource,
      from,
      to,
      step,
      operations,
      hours.first,
      hours.last,
      JSON.stringify(bundled),
    ],
  )
  return rows
}

/** The figures of all rows, and of those of each step of time, as the API shows them. */
export const shownEnergy = (
  rows: readonly ResourceEnergyRow[],
  figures: (rows: readonly ResourceEnergyRow[]) => object = energyFigures,
) => ({
  ...figures(rows),
  data: [...Map.groupBy(rows, ({ at }) => at.toISOString())].map(([at, some]) => ({
    at,
    ...figures(some),
  })),
})

export function energyFigures(rows: readonly ResourceEnergyRow[]) {
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
