// Removes blobs that no row names, an hour after the last row went, so that running reads can finish. A longer read
// of a replaced object in parts is cut at the next part: its owner wants the space.
import type { State } from '#state/connect.ts'
import type { BlobStore } from '#blobs/blob.ts'

export const GRACE_MS = 3_600_000

/**
 * Removes up to `limit` blobs of a store and returns the number. A row is locked while its file is removed, so that
 * the mover cannot bring the blob back; the row goes after the file, so a crash in between only repeats the removal.
 * A blob that a row names after all stays; only its garbage row goes.
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
