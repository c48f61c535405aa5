// An account's charges in the order of their numbers, page by page, as evidence packs read them: their bytes, and their
// places in the log. All who read whole charges of a time read them here.
import type { Queryable } from '#state/connect.ts'
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
    `select min(account_seq)::text as first, max(account_seq)::text as last
     from charges where account = $1 and ${endsIn('$2', '$3')}`,
    [account, from, to],
  )
  const [row] = rows
  if (row === undefined || row.first === null) return undefined
  return { first: BigInt(row.first), last: BigInt(row.last) }
}

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
  return rows.map(({ seq, leaf, bytes }) => ({
    accountSeq: BigInt(seq),
    leafIndex: Number(leaf),
    bytes,
  }))
}
