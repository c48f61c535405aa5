// The hashes of leaves in the tiles of the log, which stay when the charges are bundled.
import { HASH_BYTES } from '#tlog/leaf.ts'
import { TILE_WIDTH } from '#tlog/tiles.ts'
import type { Queryable } from '#state/connect.ts'
import { logIndexOf, type Shard } from '#receipts/store.ts'

const HASHES = `
  select substr(t.hashes, w.place * ${HASH_BYTES} + 1, ${HASH_BYTES}) as hash
  from unnest($1::text[], $2::bigint[], $3::int[]) with ordinality as w (origin, index, place, nth)
  left join receipt_tiles t on t.origin = w.origin and t.level = 0 and t.index = w.index
  order by w.nth`

/** The hash of each leaf of the ledger, by the signed log; undefined for one that is not sealed. */
export async function sealedLeaves(
  state: Queryable,
  shards: readonly Shard[],
  leafIndexes: readonly number[],
): Promise<(Buffer | undefined)[]> {
  const places = leafIndexes.map((leafIndex) => {
    const shard = shards.findLast(({ firstLeaf }) => firstLeaf <= leafIndex)
    const index = shard === undefined ? 0 : logIndexOf(shard, leafIndex)
    return { origin: shard?.origin ?? '', tile: Math.floor(index / TILE_WIDTH), index }
  })
  const { rows } = await state.query<{ hash: Buffer | null }>(HASHES, [
    places.map(({ origin }) => origin),
    places.map(({ tile }) => tile),
    places.map(({ index }) => index % TILE_WIDTH),
  ])
  return rows.map(({ hash }) => (hash?.length === HASH_BYTES ? hash : undefined))
}
