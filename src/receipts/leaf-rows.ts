// Leaves of the log as the ledger has them: rows of `charges`, and bundled charges.
import { invariant } from '#base/errors.ts'
import { chargesOf } from '#ledger/bundles/bundled-charge.ts'
import { readBundles } from '#ledger/bundles/read-bundles.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import type { LeafContent } from '#tlog/leaf.ts'
import { LeafPage } from './leaf-page.ts'
import type { StoredCharge } from './store.ts'

// All of them as one row: row by row they took twice the CPU here, and most of it in the driver. The index of a
// leaf is unique, so that they have no gap when the last one is as far as their count says.
const ROWS = `
  select min(leaf_index) as first, max(leaf_index) as last,
    string_agg(int8send(account_seq) || int4send(length(bytes)), '') as heads,
    string_agg(bytes, '') as bytes
  from (select leaf_index, account_seq, bytes from charges
    where leaf_index >= $1 order by leaf_index limit $2) page having count(*) > 0`

/** Charges from a leaf on, in order and without gaps. */
export async function readLeafRows(
  state: Queryable,
  from: number,
  limit: number,
): Promise<LeafPage> {
  const { rows } = await state.query(ROWS, [from, limit])
  const [row] = rows
  if (row !== undefined) {
    const page = new LeafPage(toBytes(row['heads']), toBytes(row['bytes']))
    const isWhole = Number(row['first']) === from && Number(row['last']) === from + page.count - 1
    if (isWhole) return page
  }
  const bundles = await state.query('select from charge_bundles where last_leaf >= $1 limit 1', [
    from,
  ])
  return row === undefined && bundles.rowCount === 0
    ? LeafPage.of([])
    : await oldLeaves(state, from, limit)
}

/** Leaves of which some are bundled: those that a signer asks for which was away for long. */
async function oldLeaves(state: Queryable, from: number, limit: number): Promise<LeafPage> {
  const leaves = new Map<number, LeafContent>()
  const { rows } = await state.query(
    `select account, leaf_index, account_seq, bytes from charges
     where leaf_index >= $1 and leaf_index < $2`,
    [from, from + limit],
  )
  for (const charge of rows.map(toStoredCharge)) leaves.set(charge.leafIndex, charge)
  const filter = { leafFrom: from, leafBelow: from + limit }
  for await (const read of readBundles(state, filter, 'leaf'))
    for (const charge of chargesOf(read))
      if (charge.leafIndex >= from && charge.leafIndex < from + limit)
        leaves.set(charge.leafIndex, { accountSeq: charge.accountSeq, bytes: charge.bytes })
  const found = [...leaves].toSorted(([a], [b]) => a - b)
  const isWhole = found.every(([leaf], nth) => leaf === from + nth)
  invariant(isWhole, `The ledger has a gap after leaf ${from}`)
  return LeafPage.of(found.map(([, leaf]) => leaf))
}

export const toStoredCharge = (row: SqlRow): StoredCharge => ({
  leafIndex: Number(row['leaf_index']),
  accountSeq: BigInt(String(row['account_seq'])),
  bytes: toBytes(row['bytes']),
  account: String(row['account']),
})

/** A column of bytes. */
export function toBytes(value: unknown): Buffer {
  if (!Buffer.isBuffer(value)) throw new TypeError('A bytea column did not come as a Buffer')
  return value
}
