// Sums over bundled charges, for the hours that no kept sum covers: those that a span of time cuts. A bundle within
// the span has its own sums of such an hour; only bundles that an end of the span cuts are decoded.
import type { Queryable } from '#state/connect.ts'
import { hourOf, sumCharges, type BundleSum } from './bundle-sums.ts'
import { chargesOf, type BundledCharge } from './bundled-charge.ts'
import { readBundles, type BundleFilter } from './read-bundles.ts'

export type BundledSpan = {
  readonly account: string
  readonly resource?: string
  readonly from: Date
  readonly to: Date
}

const HOUR_MS = 3_600_000

/** The whole hours of a span, which begin and end in it. There are none where `from` equals `to`. */
export function wholeHours({ from, to }: { readonly from: Date; readonly to: Date }) {
  const first = Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS
  const last = Math.max(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS, first)
  return { first: new Date(first), last: new Date(last) }
}

/** The sums as rows of SQL: `select * from` it, with the list of bundledSums() as a value. */
export const bundledRows = (value: string): string =>
  `(select s ->> 1 as operation, s ->> 2 as model, s ->> 3 as token, s ->> 4 as resource, (s ->> 0)::timestamptz as at,
     (s ->> 5)::bigint as requests, (s ->> 6)::numeric as energy_nj, (s ->> 7)::numeric as carbon_pg,
     (s ->> 8)::numeric as charge_pusd, (s ->> 9)::numeric as measured_nj,
     (s ->> 10)::numeric as band_weight
   from jsonb_array_elements(${value}) s)`

/** The sums of bundled charges in the hours that a span cuts. To be asked in the snapshot of the sums that they go with. */
export async function bundledSums(
  state: Queryable,
  span: BundledSpan,
): Promise<readonly BundleSum[]> {
  const found: BundleSum[] = []
  for (const edge of edgesOf(span)) {
    found.push(...(await keptSums(state, span, edge)))
    const filter = { ...edge, decodedOf: [span.from, span.to] } as const
    for await (const charges of chargesIn(state, filter, edge)) found.push(...sumCharges(charges))
  }
  return found
}

/** The sums of the bundled charges of a span by minute, of which bundles keep none. */
export async function bundledMinutes(
  state: Queryable,
  span: BundledSpan,
): Promise<readonly BundleSum[]> {
  const found: BundleSum[] = []
  for await (const charges of chargesIn(state, span, span))
    found.push(...sumCharges(charges, 'minute'))
  return found
}

/** The spans before and after the whole hours of a span: each is in one hour. */
function edgesOf(span: BundledSpan): BundledSpan[] {
  const { first, last } = wholeHours(span)
  const ends = first < span.to ? first : span.to
  return [
    { ...span, to: ends },
    { ...span, from: last },
  ].filter(({ from, to }) => from < to)
}

/** The sums of the hour of an edge that bundles within the span keep. */
async function keptSums(
  state: Queryable,
  span: BundledSpan,
  edge: BundledSpan,
): Promise<readonly BundleSum[]> {
  const { rows } = await state.query<{ sum: BundleSum }>(
    `select s as sum from charge_bundles p, jsonb_array_elements(p.sums) s
     where account = $1 and first_at >= $2 and last_at < $3 and last_at >= $4 and first_at < $5 and s ->> 0 = $6
       and ($7::text is null or resources @> array[$7] and s ->> 4 = $7)`,
    [
      span.account,
      span.from,
      span.to,
      edge.from,
      edge.to,
      hourOf(edge.from),
      span.resource ?? null,
    ],
  )
  return rows.map(({ sum }) => sum)
}

/** The charges in a span of the bundles that a filter finds, bundle by bundle. */
async function* chargesIn(
  state: Queryable,
  filter: BundleFilter,
  { from, to, resource }: BundledSpan,
): AsyncGenerator<Iterable<BundledCharge>> {
  const isIn = (charge: BundledCharge): boolean => {
    const { at } = charge
    return at >= from && at < to && (resource === undefined || charge.resource === resource)
  }
  for await (const read of readBundles(state, filter, 'time')) yield chargesOf(read).filter(isIn)
}
