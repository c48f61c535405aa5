// Sums over packed charges, for what no kept sum covers: the hours that a span of time cuts.
import type { Queryable } from '#state/connect.ts'
import { chargesOf, type PackedCharge } from './packed-charge.ts'
import { readPacks } from './read-packs.ts'

export type PackedSpan = {
  readonly account: string
  readonly resource?: string
  readonly from: Date
  readonly to: Date
}

/** The columns of a charge that a sum is by, and its sums; as SQL reads them from JSON. */
type SummedRow = Readonly<Record<string, string | number | null>>

const HOUR_MS = 3_600_000

/** The whole hours of a span: those that begin in it and end in it. None where both are equal. */
export function wholeHours({ from, to }: { readonly from: Date; readonly to: Date }) {
  const first = Math.ceil(from.getTime() / HOUR_MS) * HOUR_MS
  const last = Math.max(Math.floor(to.getTime() / HOUR_MS) * HOUR_MS, first)
  return { first: new Date(first), last: new Date(last) }
}

/** The spans before and after the whole hours of a span. */
export function edgesOf<S extends PackedSpan>(span: S): S[] {
  const { first, last } = wholeHours(span)
  const ends = first < span.to ? first : span.to
  return [
    { ...span, to: ends },
    { ...span, from: last },
  ].filter(({ from, to }) => from < to)
}

/** The sums of packed charges of some spans by columns. To be asked in the snapshot of the sums that they go with. */
export async function packedSums(
  state: Queryable,
  spans: readonly PackedSpan[],
  columnsOf: (charge: PackedCharge) => Readonly<Record<string, string | null>>,
): Promise<SummedRow[]> {
  const sums = new Map<string, { columns: object; of: PackedCharge[] }>()
  for (const span of spans)
    for await (const read of readPacks(state, span, 'time'))
      for (const charge of chargesOf(read)) {
        const { at } = charge
        if (at < span.from || at >= span.to) continue
        if (span.resource !== undefined && charge.resource !== span.resource) continue
        const columns = columnsOf(charge)
        const key = JSON.stringify(columns)
        const known = sums.get(key) ?? { columns, of: [] }
        known.of.push(charge)
        sums.set(key, known)
      }
  return [...sums.values()].map(({ columns, of }) => ({ ...columns, ...sumsOf(of) }))
}

function sumsOf(charges: readonly PackedCharge[]) {
  const sum = (key: 'energyNj' | 'carbonPg' | 'chargePusd' | 'measuredNj') =>
    charges.reduce((total, charge) => total + charge[key], 0n).toString()
  return {
    requests: charges.length,
    energy_nj: sum('energyNj'),
    carbon_pg: sum('carbonPg'),
    charge_pusd: sum('chargePusd'),
    measured_nj: sum('measuredNj'),
  }
}
