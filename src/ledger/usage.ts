// An account's usage in a span of time, summed from its charges: whole hours from the sums that the audit keeps, the
// edges and charges that are not audited yet from the charges themselves.
import type { Queryable } from '#state/connect.ts'
import { bundledRows, bundledSums, wholeHours } from './bundles/bundled-sums.ts'

export type UsageSpan = { readonly account: string; readonly from: Date; readonly to: Date }

export type UsageRow = {
  readonly group: string | null
  readonly requests: string
  readonly energy: string
  readonly carbon: string
  readonly charge: string
  /** Of the energy, what a sensor read; the rest was modelled or declared. */
  readonly measured: string
}

const CHARGES = `select operation, coalesce(model, '') as model, coalesce(token, '') as token, to_at as at,
    1 as requests, energy_nj, carbon_pg, charge_pusd, measured_nj(bytes, energy_nj) as measured_nj from charges`

// By the account's numbers, of which few are not audited: by their times all charges of the range were read, 8 s of ten
// million. The order and OFFSET keep the planner to the index of the numbers.
const UNAUDITED = CHARGES.replace(
  /charges$/,
  `(select * from charges where account = $1 and account_seq
     > coalesce((select charges from audited_accounts where account = $1), 0)
     order by account_seq offset 0) charges`,
)

/** SQL of ours: charges count at their end, from a time to before another. */
export const endsIn = (from: string, to: string): string => `to_at >= ${from} and to_at < ${to}`

/**
 * The sums of [from, to) by group, the most energy first. `group` is SQL of ours over operation, model, token
 * and at; at most `limit` rows after the first `offset`. To be asked in one snapshot, as charges may be bundled meanwhile.
 */
export async function sumUsage(
  state: Queryable,
  span: UsageSpan,
  group: string,
  page: { readonly offset: number; readonly limit: number },
): Promise<readonly UsageRow[]> {
  const hours = wholeHours(span)
  const bundled = await bundledSums(state, span)
  const { rows } = await state.query<UsageRow>(
    `select ${group} as group, sum(requests) as requests, sum(energy_nj) as energy,
      sum(carbon_pg) as carbon, sum(charge_pusd) as charge, sum(measured_nj) as measured
    from (
      select operation, model, token, hour as at, requests, energy_nj, carbon_pg, charge_pusd, measured_nj
      from usage_hours where account = $1 and hour >= $4 and hour < $5
      union all
      ${CHARGES} where account = $1 and ${endsIn('$2', 'least($4, $3)')}
      union all
      ${CHARGES} where account = $1 and ${endsIn('$5', '$3')}
      union all
      ${UNAUDITED} where ${endsIn('$4', '$5')}
      union all
      select * from ${bundledRows('$8')} bundled
    ) used group by 1 order by energy desc, 1 offset $6 limit $7`,
    [
      span.account,
      span.from,
      span.to,
      hours.first,
      hours.last,
      page.offset,
      page.limit,
      JSON.stringify(bundled),
    ],
  )
  return rows
}
