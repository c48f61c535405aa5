// Moves blobs to another store, one after the other: copied, compared, then the row is changed. Reads follow
// the row, so that it can be stopped at any time and run the other way.
import { ErgonError } from '#base/errors.ts'
import type { BlobRef, BlobStore } from '#blobs/blob.ts'
import type { Queryable, State } from '#state/connect.ts'
import { checksumOf } from './scrub.ts'
import { type BlobStores, storeOf } from './stores.ts'

export type Move = {
  readonly from: string
  readonly to: string
  /** The greatest number of blobs moved in one call. */
  readonly limit: number
  readonly signal: AbortSignal
}
type Row = { id: string; size: string; checksum: string }

/**
 * Moves up to `limit` blobs; `done` when none is left at `from`. Throws `blob_damaged` when what arrived,
 * or what was there, has another checksum: then the row is as it was.
 */
export async function moveBlobs(
  deps: { state: State; stores: BlobStores },
  move: Move,
): Promise<{ moved: number; done: boolean }> {
  const { state, stores } = deps
  const between = {
    source: storeOf(stores, { location: move.from }),
    target: storeOf(stores, { location: move.to }),
  }
  let moved = 0
  for (;;) {
    move.signal.throwIfAborted()
    const row = await nextBlob(state, move.from)
    if (row === undefined) return { moved, done: true }
    if (moved === move.limit) return { moved, done: false }
    await moveOne(state, between, row, move.signal)
    moved++
  }
}

async function nextBlob(state: Queryable, location: string): Promise<Row | undefined> {
  const { rows } = await state.query<Row>(
    'select id, size, checksum from blobs where location = $1 order by id limit 1',
    [location],
  )
  return rows[0]
}

async function moveOne(
  state: State,
  { source, target }: { source: BlobStore; target: BlobStore },
  row: Row,
  signal: AbortSignal,
): Promise<void> {
  const { id } = row
  const ref: BlobRef = { id, location: source.location, size: Number(row.size) }
  // What an earlier move left there: from now on it is no garbage, and it is written anew.
  await state.query('delete from blob_garbage where location = $1 and id = $2', [
    target.location,
    id,
  ])
  await target.delete({ id }, signal)
  const body = await source.get(ref, { signal })
  const copy = await target.put(body, { signal, sizeMax: ref.size, id })
  const arrived = await checksumOf(target, copy, signal)
  if (copy.checksum !== row.checksum || arrived !== row.checksum) {
    await target.delete({ id }, signal)
    throw new ErgonError(
      { code: 'blob_damaged', status: 500 },
      `Could not move blob ${id}: its checksum is ${arrived}, not ${row.checksum}`,
    )
  }
  await state.transaction(async (transaction) => {
    const { rowCount } = await transaction.query(
      'update blobs set location = $3 where id = $1 and location = $2',
      [id, source.location, target.location],
    )
    // Deleted meanwhile: then it is the copy that nobody names.
    const [gone, size] = rowCount === 1 ? [source, ref.size] : [target, copy.size]
    await transaction.query(
      `insert into blob_garbage (location, id, size, since) values ($1, $2, $3, clock_timestamp())
       on conflict (location, id) do nothing`,
      [gone.location, id, size],
    )
  })
}
