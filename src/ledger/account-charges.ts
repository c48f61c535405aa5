// An account's charges in the order of their numbers, page by page, as evidence packs read them: their bytes, and their
// places in the log. All who read whole charges of a time read them here.
import type { Queryable } from '#state/connect.ts'
import { chargesOf } from './packs/packed-charge.ts'
import { readPacks } from './packs/read-packs.ts'
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
  span: UsageSpan,
): Promise<ChargeRange | undefined> {
  const { account, from, to } = span
  const { rows } = await state.query<{ first: string | null; last: string | null }>(
    `select min(first)::text as first, max(last)::text as last from (
       select account_seq as first, account_seq as last from charges where account = $1 and ${endsIn('$2', '$3')}
       union all select first_seq, last_seq from charge_packs where account = $1 and first_at >= $2 and last_at < $3) known`,
    [account, from, to],
  )
  const [row] = rows
  const known = row?.first == null || row.last === null ? [] : [BigInt(row.first), BigInt(row.last)]
  const numbers = [...known, ...(await numbersAtBorders(state, span))]
  const [first, last] = [numbers.reduce(least, numbers[0] ?? 0n), numbers.reduce(greatest, 0n)]
  return numbers.length === 0 ? undefined : { first, last }
}

const least = (a: bigint, b: bigint) => (b < a ? b : a)
const greatest = (a: bigint, b: bigint) => (b > a ? b : a)

/** Of packs that are only partly in the span, the numbers of their charges that are. */
async function numbersAtBorders(
  state: Queryable,
  { account, from, to }: UsageSpan,
): Promise<bigint[]> {
  const numbers: bigint[] = []
  for (const border of [from, to])
    for await (const pack of readPacks(state, { account, from: border, to: border }))
      for (const { at, accountSeq } of chargesOf(pack))
        if (at >= from && at < to) numbers.push(accountSeq)
  return numbers
}

/** At most `limit` charges of a range, by number; fewer at the end of a pack. */
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
  const unpacked = rows.map(({ seq, leaf, bytes }) => ({
    accountSeq: BigInt(seq),
    leafIndex: Number(leaf),
    bytes,
  }))
  if (unpacked[0]?.accountSeq === first) return unpacked
  for await (const pack of readPacks(state, { account, below: first + 1n })) {
    const found = [...chargesOf(pack)]
      .toReversed()
      .filter(({ accountSeq }) => accountSeq >= first && accountSeq <= last)
    if (found.length === 0) break
    return found
      .slice(0, limit)
      .map(({ accountSeq, leafIndex, bytes }) => ({ accountSeq, leafIndex, bytes }))
  }
  return unpacked
}
