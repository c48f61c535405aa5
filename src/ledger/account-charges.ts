// An account's charges in the order of their numbers, page by page, as evidence packs read them: their bytes, and their
// places in the log. All who read whole charges of a time read them here.
import type { Queryable } from '#state/connect.ts'
import { chargesOf, type BundledCharge } from './bundles/bundled-charge.ts'
import { readBundles } from './bundles/read-bundles.ts'
import { endsIn, type UsageSpan } from './usage.ts'

/** The numbers of the charges that end in a span; in between are others that end just before or after it. */
export type ChargeRange = { readonly first: bigint; readonly last: bigint }

export type AccountCharge = {
  readonly accountSeq: bigint
  readonly leafIndex: number
  readonly bytes: Buffer
}

/** Undefined where no charge ends in the span. */
export async function chargeRange(
  state: Queryable,
  { account, from, to }: UsageSpan,
): Promise<ChargeRange | undefined> {
  const { rows } = await state.query<{ first: string | null; last: string }>(
    `select min(first)::text as first, max(last)::text as last from (
       select account_seq as first, account_seq as last
       from charges where account = $1 and ${endsIn('$2', '$3')}
       union all
       select first_seq, last_seq from charge_bundles where account = $1 and first_at >= $2 and last_at < $3) found`,
    [account, from, to],
  )
  const numbers = rows.flatMap(({ first, last }) =>
    first === null ? [] : [BigInt(first), BigInt(last)],
  )
  // The span cuts few bundles: their charges are read one by one.
  for await (const read of readBundles(state, { account, from, to, cutBy: [from, to] }, 'time'))
    for (const { at, accountSeq } of chargesOf(read))
      if (at >= from && at < to) numbers.push(accountSeq)
  if (numbers.length === 0) return undefined
  const [first, last] = [numbers.reduce(smallest), numbers.reduce(largest)]
  return { first, last }
}

const smallest = (a: bigint, b: bigint) => (a < b ? a : b)
const largest = (a: bigint, b: bigint) => (a > b ? a : b)

/** At most `limit` charges of a range, by number. */
export async function readCharges(
  state: Queryable,
  account: string,
  { first, last }: ChargeRange,
  limit: number,
): Promise<readonly AccountCharge[]> {
  const { rows } = await state.query<{ seq: string; leaf: string; bytes: Buffer }>(
    `select account_seq::text as seq, leaf_index::text as leaf, bytes from charges
     where account = $1 and account_seq between $2 and $3 order by account_seq limit $4`,
    [account, first.toString(), last.toString(), limit],
  )
  const unbundled = rows.map(({ seq, leaf, bytes }) => ({
    accountSeq: BigInt(seq),
    leafIndex: Number(leaf),
    bytes,
  }))
  // Numbers have no gap: all below the first row are bundled.
  const end = smallest(last + 1n, first + BigInt(limit))
  const below = smallest(end, unbundled[0]?.accountSeq ?? end)
  if (below <= first) return unbundled
  const bundled: BundledCharge[] = []
  for await (const read of readBundles(state, { account, below, numberFrom: first }))
    for (const charge of chargesOf(read))
      if (charge.accountSeq >= first && charge.accountSeq < below) bundled.push(charge)
  return [...bundled.toReversed(), ...unbundled].slice(0, limit)
}
