// The charges of a resource in a span of time, summed from the charges themselves.
import type { OperationName } from '#contract/operations.ts'
import type { Queryable } from '#state/connect.ts'
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

/** The sums of [from, to) by operation and step of time. */
export async function sumResource(
  state: Queryable,
  { account, resource, operations, from, to }: ResourceSpan,
  step: 'minute' | 'hour' | 'day',
): Promise<readonly ResourceEnergyRow[]> {
  const { rows } = await state.query<ResourceEnergyRow>(
    `select date_trunc($5, to_at, 'UTC') as at, operation, sum(energy_nj)::text as energy,
       sum(carbon_pg)::text as carbon, sum(charge_pusd)::text as charge
     from charges where account = $1 and resource = $2 and ${endsIn('$3', '$4')} and operation = any($6)
     group by 1, 2 order by 1, 2`,
    [account, resource, from, to, step, operations],
  )
  return rows
}
