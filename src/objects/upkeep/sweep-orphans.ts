// Finds files that no row names, left behind by puts that were killed before their commit. They become garbage,
// removable a week later than deleted blobs: after an old dump was restored, all later files look like orphans, and
// another dump may still name them.
import type { Clock } from '#base/clock.ts'
import { type BlobRef, type BlobStore, SHARDS } from '#blobs/blob.ts'
import { discardBlobs } from '#objects/discard-blobs.ts'
import type { Queryable } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

/** No upload of a blob takes this long: its row exists or never will. */
export const ORPHAN_AGE_MS = 24 * 3_600_000
export const ORPHAN_KEPT_MS = 7 * 24 * 3_600_000
const ASK_COUNT = 500
/** The usual number of orphans: a killed process leaves one for each large body in progress. */
const USUAL_MAX = 32

export type Swept = {
  readonly shard: string
  /** Newly found orphans. */
  readonly found: number
  /** All orphans of the store that wait for removal, counted when some were found. */
  readonly waiting: number
  /** There are more orphans than kills leave: the state may be older than the files. */
  readonly isAlarming: boolean
}

/** Scans the next of the store's 256 folders; a round is 256 calls. */
export async function sweepOrphans(
  deps: { state: Queryable; store: BlobStore; clock: Clock },
  options: { signal: AbortSignal; ageMs?: number; keptMs?: number },
): Promise<Swept> {
  const { state, store, clock } = deps
  const { signal, ageMs = ORPHAN_AGE_MS, keptMs = ORPHAN_KEPT_MS } = options
  const task = `sweep:${store.location}`
  const place = await loadPlace(state, task)
  const shard = SHARDS[(SHARDS.indexOf(place ?? '') + 1) % SHARDS.length] ?? '00'
  let found = 0
  let old: BlobRef[] = []
  const discard = async () => {
    found += await discardBlobs(state, old, { laterMs: keptMs })
    old = []
  }
  for await (const { id, size, writtenMs } of store.list(shard, signal)) {
    if (clock.wallMs() - writtenMs < ageMs) continue
    old.push({ location: store.location, id, size })
    if (old.length === ASK_COUNT) await discard()
  }
  await discard()
  await savePlace(state, task, shard)
  const waiting = found === 0 ? 0 : await countWaiting(state, store.location)
  return {
    shard,
    found,
    waiting,
    isAlarming: waiting > USUAL_MAX && waiting - found <= USUAL_MAX,
  }
}

/** Only orphans have a future time. */
async function countWaiting(state: Queryable, location: string): Promise<number> {
  const { rows } = await state.query<{ count: string }>(
    'select count(*) from blob_garbage where location = $1 and since > clock_timestamp()',
    [location],
  )
  return Number(rows[0]?.count)
}
