// The part of a page of the ledger that is bundled: charges as entries, in the order of the page.
import { chargesOf, type BundledCharge } from '#ledger/bundles/bundled-charge.ts'
import { readBundles } from '#ledger/bundles/read-bundles.ts'
import type { Queryable } from '#state/connect.ts'
import type { LedgerFilter, LedgerPosition, LedgerRow } from './ledger-entry.ts'

/** The entry of a bundled charge. Its time has milliseconds. */
export const entryOfBundled = (charge: BundledCharge): LedgerRow => ({
  at: charge.at,
  at_us: charge.at.toISOString().replace('Z', '000Z'),
  rank: 0,
  number: charge.accountSeq.toString(),
  id: charge.id,
  kind: 'charge',
  amount: (-charge.chargePusd).toString(),
  operation: charge.operation,
  model: charge.value('model') ?? null,
  energy: charge.energyNj.toString(),
  reference: null,
  charge: charge.bytes,
})

/** Adds the bundled charges of a page to its rows, which are the first unbundled ones. */
export async function withBundled(
  state: Queryable,
  filter: LedgerFilter,
  { after, limit }: { readonly after: LedgerPosition; readonly limit: number },
  rows: readonly LedgerRow[],
): Promise<readonly LedgerRow[]> {
  if (filter.kind !== null && filter.kind !== 'charge') return rows
  const isWanted = wanted(filter, after)
  let page = [...rows]
  /** The page is full of entries that are newer than a time. */
  const isFull = (at: Date) => page.length === limit && (page[limit - 1]?.at ?? at) > at
  for await (const read of readBundles(
    state,
    bundleFilter(filter, after, page[limit - 1]),
    'time',
  )) {
    if (isFull(read.lastAt)) break
    const numbers = new Set(page.filter(({ rank }) => rank === 0).map(({ number }) => number))
    const found = [...chargesOf(read)].filter(isWanted).map(entryOfBundled)
    page = [...page, ...found.filter(({ number }) => !numbers.has(number))]
      .toSorted(newestFirst)
      .slice(0, limit)
  }
  return page
}

function bundleFilter(filter: LedgerFilter, after: LedgerPosition, last: LedgerRow | undefined) {
  const before = [filter.to, after.at === 'infinity' ? null : new Date(Date.parse(after.at) + 1)]
  const from = [filter.from, last?.at ?? null]
  const least = before.filter((at) => at !== null).toSorted((a, b) => a.getTime() - b.getTime())[0]
  const most = from.filter((at) => at !== null).toSorted((a, b) => b.getTime() - a.getTime())[0]
  return {
    account: filter.account,
    ...(least === undefined ? {} : { to: least }),
    ...(most === undefined ? {} : { from: most }),
    ...(filter.operations === null ? {} : { operations: filter.operations }),
  }
}

const wanted =
  ({ from, to, operations }: LedgerFilter, after: LedgerPosition) =>
  (charge: BundledCharge): boolean => {
    const { at } = charge
    if ((from !== null && at < from) || (to !== null && at >= to)) return false
    if (operations !== null && !operations.includes(charge.operation)) return false
    if (charge.accountSeq > BigInt(after.chargeMax)) return false
    const atUs = at.toISOString().replace('Z', '000Z')
    if (atUs !== after.at) return atUs < after.at
    return after.rank === 1 || charge.accountSeq < BigInt(after.number)
  }

function newestFirst(a: LedgerRow, b: LedgerRow): number {
  if (a.at_us !== b.at_us) return a.at_us < b.at_us ? 1 : -1
  if (a.rank !== b.rank) return b.rank - a.rank
  return BigInt(a.number) < BigInt(b.number) ? 1 : -1
}
