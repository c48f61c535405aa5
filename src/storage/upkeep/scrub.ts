// Reads stored blobs again and compares their checksums: a disk that forgets is found before its owner
// finds it.
import type { BlobRef, BlobStore } from '#blobs/blob.ts'
import { createChecksum } from '#blobs/checksum.ts'
import { isAway } from '#blobs/faults.ts'
import { messageOf } from '#base/errors.ts'
import type { Queryable } from '#state/connect.ts'
import { loadPlace, savePlace } from './place.ts'

export type Damage = BlobRef & { readonly found: string }
type Row = { id: string; size: string; checksum: string }

const PAGE = 100

/**
 * Reads on in a store from where the last call ended, about `bytesMax` bytes, and answers what is damaged
 * or missing; `done` says that a round over all its blobs has ended. A blob that was deleted or moved
 * meanwhile is no damage. Throws `storage_away`: the next call begins at the same place.
 */
export async function scrub(
  deps: { state: Queryable; store: BlobStore },
  options: { bytesMax: number; signal: AbortSignal },
): Promise<{ read: number; damaged: Damage[]; done: boolean }> {
  const { state, store } = deps
  const task = `scrub:${store.location}`
  const damaged: Damage[] = []
  let read = 0
  let place = await loadPlace(state, task)
  for (;;) {
    const rows = await nextBlobs(state, place, store.location)
    for (const row of rows) {
      options.signal.throwIfAborted()
      const ref = { id: row.id, location: store.location, size: Number(row.size) }
      const found = await checksumOf(store, ref, options.signal)
      if (found !== row.checksum && (await isNamed(state, ref))) damaged.push({ ...ref, found })
      place = row.id
      read += ref.size
      if (read >= options.bytesMax) break
    }
    if (read >= options.bytesMax || rows.length === 0) {
      const done = rows.length === 0
      await savePlace(state, task, done ? undefined : place)
      return { read, damaged, done }
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

/** The checksum of what is stored now, or why it cannot be read. Throws `storage_away`. */
export async function checksumOf(
  store: BlobStore,
  ref: BlobRef,
  signal: AbortSignal,
): Promise<string> {
  const checksum = createChecksum()
  try {
    for await (const chunk of await store.get(ref, { signal })) checksum.update(chunk)
    return checksum.text()
  } catch (error) {
    signal.throwIfAborted()
    if (isAway(error)) throw error
    return messageOf(error)
  }
}

async function isNamed(state: Queryable, { id, location }: BlobRef): Promise<boolean> {
  const { rowCount } = await state.query('select from blobs where id = $1 and location = $2', [
    id,
    location,
  ])
  return rowCount > 0
}
