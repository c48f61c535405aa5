// Removes blobs that no row names any more, or never did, an hour after the last one went, so that a read that began before
// then comes to its end. Of an object in parts that is replaced meanwhile, a read that takes longer than the hour
// is cut at the next part: who deletes wants the room.
import type { State } from '#state/connect.ts'
import type { BlobStore } from '#blobs/blob.ts'

export const GRACE_MS = 3_600_000

/**
 * Removes up to `limit` blobs of a store and answers how many. A row is locked while its file is removed, so that
 * the mover cannot bring the blob back meanwhile; it goes after the file, so that a kill in between only
 * removes what is gone already. What a row names in spite of it is kept: only the garbage forgets it.
 */
export async function collectGarbage(
  deps: { state: State; store: BlobStore },
  options: { limit: number; signal: AbortSignal; graceMs?: number },
): Promise<number> {
  const { state, store } = deps
  const { limit, signal, graceMs = GRACE_MS } = options
  let removed = 0
  while (removed < limit) {
    signal.throwIfAborted()
    if (!(await collectOne(state, store, { signal, graceMs }))) break
    removed++
  }
  return removed
}

const collectOne = (
  state: State,
  store: BlobStore,
  { signal, graceMs }: { signal: AbortSignal; graceMs: number },
): Promise<boolean> =>
  state.transaction(async (transaction) => {
    const { rows } = await transaction.query<{ id: string; named: boolean }>(
      `delete from blob_garbage g where (location, id) = (
         select location, id from blob_garbage
         where since < clock_timestamp() - $1 * interval '1 ms' and location = $2
         order by since limit 1 for update skip locked
       ) returning id, exists (
         select from blobs b where b.id = g.id and b.location = g.location) as named`,
      [graceMs, store.location],
    )
    const [row] = rows
    if (row === undefined) return false
    if (!row.named) await store.delete(row, signal)
    return true
  })
