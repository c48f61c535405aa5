// Reads stored blobs again and compares their checksums, to find disk errors before an owner does. An older checksum
// over a whole blob is replaced by one over pieces, so that ranges are checked too.
import type { BlobRef, BlobStore, NewBlob } from '#blobs/blob.ts'
import { createChecksum, isOfWhole } from '#blobs/checksum.ts'
import { isAway } from '#blobs/faults.ts'
import { messageOf } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

export type Damage = BlobRef & { readonly found: string }
type Row = { id: string; size: string; checksum: string }

const PAGE = 100

/**
 * Reads about `bytesMax` bytes of a store, from where the last call ended; `done` says that a round over all blobs has
 * ended. `onDamage` is awaited with each damaged or missing blob before the place moves on. A blob that was deleted or
 * moved meanwhile is no damage. Throws `storage_away`: the next call begins at the same position.
 */
export async function scrub(
  deps: { state: Queryable; store: BlobStore },
  options: { bytesMax: number; signal: AbortSignal; onDamage(damage: Damage): Promise<void> },
): Promise<{ read: number; done: boolean }> {
  const { state, store } = deps
  const task = `scrub:${store.location}`
  let read = 0
  let place = await loadPlace(state, task)
  for (;;) {
    const rows = await nextBlobs(state, place, store.location)
    for (const row of rows) {
      options.signal.throwIfAborted()
      const { id, checksum } = row
      const ref = { id, location: store.location, size: Number(row.size) }
      const found = await readAgain(store, { ...ref, checksum }, options.signal)
      if ('fault' in found && (await isNamed(state, ref)))
        await options.onDamage({ ...ref, found: found.fault })
      if ('checksum' in found && isOfWhole(row)) await renew(state, ref, found.checksum)
      place = id
      read += ref.size
      if (read >= options.bytesMax) break
    }
    if (read >= options.bytesMax || rows.length === 0) {
      const done = rows.length === 0
      await savePlace(state, task, done ? undefined : place)
      return { read, done }
    }
  }
}

async function nextBlobs(
  state: Queryable,
  after: string | undefined,
  location: string,
): Promise<Row[]> {
  const { rows } = await state.query<Row>(
    `select id, size, checksum from blobs
     where ($1::uuid is null or id > $1) and location = $2 order by id limit $3`,
    [after ?? null, location, PAGE],
  )
  return rows
}

/** The checksum of a blob over pieces, or the reason why its bytes are damaged. Throws `storage_away`. */
export async function readAgain(
  store: BlobStore,
  blob: NewBlob,
  signal: AbortSignal,
): Promise<{ checksum: string } | { fault: string }> {
  const checksum = createChecksum()
  try {
    for await (const chunk of await store.get(blob, { signal })) checksum.update(chunk)
    return { checksum: checksum.text() }
  } catch (error) {
    signal.throwIfAborted()
    if (isAway(error)) throw error
    return { fault: messageOf(error) }
  }
}

const renew = (state: Queryable, { id, location }: BlobRef, checksum: string) =>
  state.query('update blobs set checksum = $3 where id = $1 and location = $2', [
    id,
    location,
    checksum,
  ])

async function isNamed(state: Queryable, { id, location }: BlobRef): Promise<boolean> {
  const { rowCount } = await state.query('select from blobs where id = $1 and location = $2', [
    id,
    location,
  ])
  return rowCount > 0
}
