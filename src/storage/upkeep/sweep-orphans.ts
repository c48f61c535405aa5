// Removes files that no row names: what puts left behind that were killed before their commit.
import type { Clock } from '#base/clock.ts'
import { type BlobStore, SHARDS } from '#blobs/blob.ts'
import type { Queryable } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

/** No upload of one blob takes this long: its row is there, or never will be. */
export const ORPHAN_AGE_MS = 24 * 3_600_000
const ASK_COUNT = 500

/**
 * Looks through the next one of the store's 256 folders; a whole round is 256 calls. Answers how many files
 * it removed.
 */
export async function sweepOrphans(
  deps: { state: Queryable; store: BlobStore; clock: Clock },
  options: { signal: AbortSignal; ageMs?: number },
): Promise<{ shard: string; removed: number }> {
  const { state, store, clock } = deps
  const { signal, ageMs = ORPHAN_AGE_MS } = options
  const task = `sweep:${store.location}`
  const place = await loadPlace(state, task)
  const shard = SHARDS[(SHARDS.indexOf(place ?? '') + 1) % SHARDS.length] ?? '00'
  let removed = 0
  let old: string[] = []
  const remove = async () => {
    for (const id of await unnamed(state, store.location, old)) {
      await store.delete({ id }, signal)
      removed++
    }
    old = []
  }
  for await (const { id, writtenMs } of store.list(shard, signal)) {
    if (clock.wallMs() - writtenMs < ageMs) continue
    old.push(id)
    if (old.length === ASK_COUNT) await remove()
  }
  await remove()
  await savePlace(state, task, shard)
  return { shard, removed }
}

async function unnamed(state: Queryable, location: string, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const { rows } = await state.query<{ id: string }>(
    `select id from unnest($2::uuid[]) as file (id)
     where not exists (select from blobs b where b.id = file.id and b.location = $1)
       and not exists (select from blob_garbage g where g.id = file.id and g.location = $1)`,
    [location, ids],
  )
  return rows.map(({ id }) => id)
}
