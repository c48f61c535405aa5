// The charges of a resource in a span of time, summed from the charges themselves.
import type { OperationName } from '#contract/operations.ts'
import type { Queryable } from '#state/connect.ts'

export type ResourceSpan = {
  readonly account: string
  /** Resources as receipts name them: `cell:db-x`, `database:notes`. */
  readonly resources: readonly string[]
  /** The operations that charge them: others are not searched. */
  readonly operations: readonly OperationName[]
  readonly from: Date
  readonly to: Date
}

export type ResourceEnergyRow = {
  readonly at: Date
  readonly resource: string
  readonly charges: string
  readonly energy: string
  readonly carbon: string
  readonly charge: string
}

/**
 * The sums of the charges whose ends are in (from, to], by resource and step of time. A charge of a minute ends with
 * the minute, so it belongs to the step before its end.
 */
export async function sumResources(
  state: Queryable,
  { account, resources, operations, from, to }: ResourceSpan,
  step: 'minute' | 'hour' | 'day',
): Promise<readonly ResourceEnergyRow[]> {
  const { rows } = await state.query<ResourceEnergyRow>(
    `select date_trunc($5, to_at - interval '1 microsecond', 'UTC') as at, r.resource, count(*) as charges,
       sum(energy_nj)::text as energy, sum(carbon_pg)::text as carbon, sum(charge_pusd)::text as charge
     from charges join unnest($2::text[]) as r (resource)
       on position('"resource":"' || r.resource || '"' in convert_from(bytes, 'UTF8')) > 0
     where account = $1 and to_at > $3 and to_at <= $4 and operation = any($6)
     group by 1, 2 order by 1, 2`,
    [account, resources, from, to, step, operations],
  )
  return rows
}
