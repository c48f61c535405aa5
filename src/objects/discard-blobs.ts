// Turns written blobs that no row names into garbage.
import type { BlobRef } from '#blobs/blob.ts'
import type { Queryable } from '#state/connect.ts'

/**
 * Adds blobs to the garbage, removable after `laterMs` and an hour. Returns the number of new entries. Blobs that a
 * row names, and existing garbage, stay as they are.
 */
export async function discardBlobs(
  state: Queryable,
  blobs: readonly BlobRef[],
  { laterMs = 0 } = {},
): Promise<number> {
  if (blobs.length === 0) return 0
  const { rowCount } = await state.query(
    `insert into blob_garbage (location, id, size, since)
     select f.location, f.id, f.size, clock_timestamp() + $4 * interval '1 ms'
     from unnest($1::text[], $2::uuid[], $3::bigint[]) f (location, id, size)
     where not exists (select from blobs b where b.id = f.id and b.location = f.location)
     order by f.id on conflict (location, id) do nothing`,
    [
      blobs.map(({ location }) => location),
      blobs.map(({ id }) => id),
      blobs.map(({ size }) => size),
      laterMs,
    ],
  )
  return rowCount
}
