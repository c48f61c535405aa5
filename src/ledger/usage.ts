// An account's usage in a span of time, summed from its charges: whole hours from the sums that the audit keeps, the
// edges and charges that are not audited yet from the charges themselves.
import type { Queryable } from '#state/connect.ts'
import { bundledMinutes, bundledRows, bundledSums, wholeHours } from './bundles/bundled-sums.ts'

export type UsageSpan = { readonly account: string; readonly from: Date; readonly to: Date }

/** Charges that count: all where a field is absent. */
export type UsageFilter = {
  readonly operations?: readonly string[]
  readonly model?: string
  readonly token?: string
  /** The id. */
  readonly resource?: string
}

export const USAGE_STEPS = ['minute', 'hour', 'day'] as const
export type UsageStep = (typeof USAGE_STEPS)[number]

export type UsagePage = {
  readonly offset: number
  readonly limit: number
  /** A row for each step of time, in place of one for the whole span. */
  readonly step?: UsageStep
  readonly filter?: UsageFilter
  /** Bands are sought in the bytes of each charge that no kept sum has. */
  readonly bands?: boolean
}

export type UsageRow = {
  /** The begin of the step; null where the sums are of the whole span. */
  readonly at: Date | null
  readonly group: string | null
  readonly requests: string
  readonly energy: string
  readonly carbon: string
  readonly charge: string
  /** Of the energy, what a sensor read; the rest was modelled or declared. */
  readonly measured: string
  /** The energy times the band of each part in percent; null unless it is asked for and known of all charges. */
  readonly weight: string | null
}

export type SummedUsage = {
  readonly rows: readonly UsageRow[]
  /** Charges and kept sums that were read, also those that the filter leaves out, and where the page has no rows. */
  readonly summed: number
}

/** A page without rows has one answer of nulls, with the size of the work. */
const isRow = ({ requests }: { readonly requests: string | null }): boolean => requests !== null

const chargesOf = (
  bands: boolean,
) => `select operation, coalesce(model, '') as model, coalesce(token, '') as token,
    coalesce(resource, '') as resource, to_at as at,
    1 as requests, energy_nj, carbon_pg, charge_pusd, measured_nj(bytes, energy_nj) as measured_nj,
    ${bands ? 'band_weight(bytes)' : 'null::numeric'} as band_weight from charges`

// By the account's numbers, of which few are not audited: by their times all charges of the range were read, 8 s of ten
// million. The order and OFFSET keep the planner to the index of the numbers.
const unauditedOf = (charges: string) =>
  charges.replace(
    /charges$/,
    `(select * from charges where account = $1 and account_seq
     > coalesce((select charges from audited_accounts where account = $1), 0)
     order by account_seq offset 0) charges`,
  )

/** SQL of ours: charges count at their end, from a time to before another. */
export const endsIn = (from: string, to: string): string => `to_at >= ${from} and to_at < ${to}`

/** The groups of all matching sources, and one for those that the filter leaves out: these were read too. */
const pageOf = (group: string, charges: string): string =>
  `with grouped as materialized (
    select matches, case when matches then date_trunc($9::text, at, 'UTC') end as step_at,
      case when matches then ${group} end as name,
      sum(requests) as requests, sum(energy_nj) as energy,
      sum(carbon_pg) as carbon, sum(charge_pusd) as charge, sum(measured_nj) as measured,
      case when $14::boolean and count(band_weight) = count(*) then sum(band_weight) end as weight,
      count(*) as sources
    from (
      select *, ($10::text[] is null or operation = any ($10)) and ($11::text is null or model = $11)
        and ($12::text is null or token = $12) and ($13::text is null or resource = $13) as matches
      from (
        select operation, model, token, resource, hour as at, requests, energy_nj, carbon_pg, charge_pusd, measured_nj, band_weight
        from usage_hours where account = $1 and hour >= $4 and hour < $5
        union all
        ${charges} where account = $1 and ${endsIn('$2', 'least($4, $3)')}
        union all
        ${charges} where account = $1 and ${endsIn('$5', '$3')}
        union all
        ${unauditedOf(charges)} where ${endsIn('$4', '$5')}
        union all
        select * from ${bundledRows('$8')} bundled
      ) sources
    ) used group by 1, 2, 3
  )
  select page.*, read.summed from (select coalesce(sum(sources), 0) as summed from grouped) read
  left join (
    select step_at as at, name as "group", requests, energy, carbon, charge, measured, weight
    from grouped where matches order by step_at, energy desc, name offset $6 limit $7
  ) page on true order by page.at, page.energy desc, page."group"`

/**
 * The sums of [from, to) by step of time and group: the steps in their order, the most energy first. `group` is SQL of
 * ours over operation, model, token, resource and at; at most `limit` rows after the first `offset`. To be asked in one snapshot, as
 * charges may be bundled meanwhile.
 */
export const sumUsage = async (
  ...asked: Parameters<typeof readUsage>
): Promise<readonly UsageRow[]> => (await readUsage(...asked)).rows

/** The same, with the size of the work. */
export async function readUsage(
  state: Queryable,
  span: UsageSpan,
  group: string,
  { offset, limit, step, filter = {}, bands = false }: UsagePage,
): Promise<SummedUsage> {
  // An hour of minutes is in no kept sum.
  const hours = step === 'minute' ? { first: span.to, last: span.to } : wholeHours(span)
  const bundled = await (step === 'minute' ? bundledMinutes : bundledSums)(state, span)
  const { rows } = await state.query<UsageRow & { summed: string }>(
    pageOf(group, chargesOf(bands)),
    [
      span.account,
      span.from,
      span.to,
      hours.first,
      hours.last,
      offset,
      limit,
      JSON.stringify(bundled),
      step ?? null,
      filter.operations ?? null,
      filter.model ?? null,
      filter.token ?? null,
      filter.resource ?? null,
      bands,
    ],
  )
  return {
    rows: rows
      .filter(isRow)
      .map(({ at, group: of, requests, energy, carbon, charge, measured, weight }) => ({
        at,
        group: of,
        requests,
        energy,
        carbon,
        charge,
        measured,
        weight,
      })),
    summed: Number(rows[0]?.summed ?? 0),
  }
}
