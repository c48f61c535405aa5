// Sums over packed charges, for what no kept sum covers: the hours that a span of time cuts. A pack within the span has
// its own sums of such an hour; only packs that an end of the span cuts are decoded.
import type { Queryable } from '#state/connect.ts'
import { hourOf, sumCharges, type PackSum } from './pack-sums.ts'
import { chargesOf, type PackedCharge } from './packed-charge.ts'
import { readPacks, type PackFilter } from './read-packs.ts'

export type PackedSpan = {
  readonly account: string
  readonly resource?: string
  readonly from: Date
  readonly to: Date
}

const HOUR_MS = 3_600_000

/** The whole hours of a span: those that begin in it and end in it. None where both are equal. */
export function wholeHours({ from, to }: { readonly from: Date; readonly to: Date }) {
  const first = Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS
  const last = Math.max(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS, first)
  return { first: new Date(first), last: new Date(last) }
}

/** The sums as rows of SQL: `select * from` it, with the list of packedSums() as a value. */
export const packedRows = (value: string): string =>
  `(select s ->> 1 as operation, s ->> 2 as model, s ->> 3 as token, (s ->> 0)::timestamptz as at,
     (s ->> 5)::bigint as requests, (s ->> 6)::numeric as energy_nj, (s ->> 7)::numeric as carbon_pg,
     (s ->> 8)::numeric as charge_pusd, (s ->> 9)::numeric as measured_nj
   from jsonb_array_elements(${value}) s)`

/** The sums of packed charges in the hours that a span cuts. To be asked in the snapshot of the sums that they go with. */
export async function packedSums(state: Queryable, span: PackedSpan): Promise<readonly PackSum[]> {
  const found: PackSum[] = []
  for (const edge of edgesOf(span)) {
    found.push(...(await keptSums(state, span, edge)))
    const filter = { ...edge, decodedOf: [span.from, span.to] } as const
    for await (const charges of chargesIn(state, filter, edge)) found.push(...sumCharges(charges))
  }
  return found
}

/** The sums of the packed charges of a span by minute, of which packs keep none. */
export async function packedMinutes(
  state: Queryable,
  span: PackedSpan,
): Promise<readonly PackSum[]> {
  const found: PackSum[] = []
  for await (const charges of chargesIn(state, span, span))
    found.push(...sumCharges(charges, 'minute'))
  return found
}

/** The spans before and after the whole hours of a span: each is in one hour. */
function edgesOf(span: PackedSpan): PackedSpan[] {
  const { first, last } = wholeHours(span)
  const ends = first < span.to ? first : span.to
  return [
    { ...span, to: ends },
    { ...span, from: last },
  ].filter(({ from, to }) => from < to)
}

/** The sums of the hour of an edge that packs within the span keep. */
async function keptSums(
  state: Queryable,
  span: PackedSpan,
  edge: PackedSpan,
): Promise<readonly PackSum[]> {
  const { rows } = await state.query<{ sum: PackSum }>(
    `select s as sum from charge_packs p, jsonb_array_elements(p.sums) s
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

/** The charges in a span of the packs that a filter finds, pack by pack. */
async function* chargesIn(
  state: Queryable,
  filter: PackFilter,
  { from, to, resource }: PackedSpan,
): AsyncGenerator<Iterable<PackedCharge>> {
  const isIn = (charge: PackedCharge): boolean => {
    const { at } = charge
    return at >= from && at < to && (resource === undefined || charge.resource === resource)
  }
  for await (const read of readPacks(state, filter, 'time')) yield chargesOf(read).filter(isIn)
}
