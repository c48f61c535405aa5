// Moves one blob to another store: copied, read again there, then its row is changed. Reads follow the row;
// those that began before come to their end, as the old copy stays for an hour.
import { fault } from '#contract/errors.ts'
import { messageOf } from '#base/errors.ts'
import type { BlobRef, BlobStore, NewBlob } from '#blobs/blob.ts'
import type { State } from '#state/connect.ts'
import { isOfBlob } from '#blobs/faults.ts'
import { readAgain } from './scrub.ts'

export type MovedBlob = { readonly id: string; readonly size: number; readonly checksum: string }

/**
 * What was found instead of the blob, when its bytes are not those that were written; undefined when it is
 * moved, or gone meanwhile. Throws when a store failed: then the row is as it was, and it can be tried
 * again. Two at once on the same blob are for the caller to exclude.
 */
export async function moveBlob(
  state: State,
  { source, target }: { source: BlobStore; target: BlobStore },
  { id, size, checksum }: MovedBlob,
  signal: AbortSignal,
): Promise<string | undefined> {
  const blob: NewBlob = { id, location: source.location, size, checksum }
  // What an earlier move left there: from now on it is no garbage, and it is written anew.
  await state.query('delete from blob_garbage where location = $1 and id = $2', [
    target.location,
    id,
  ])
  await target.delete({ id }, signal)
  const wrong = await copy(source, target, blob, signal)
  if (wrong !== undefined) {
    await target.delete({ id }, signal)
    return (await isNamed(state, blob)) ? wrong : undefined
  }
  const arrived = await readAgain(target, { ...blob, location: target.location }, signal)
  if ('fault' in arrived) {
    await target.delete({ id }, signal)
    throw fault('blob_damaged', `Could not move blob ${id} to ${target.location}: ${arrived.fault}`)
  }
  await switchRow(state, blob, { location: target.location, checksum: arrived.checksum })
  return undefined
}

/** What is wrong with the source; undefined when it is copied. Throws the errors of the target. */
async function copy(
  source: BlobStore,
  target: BlobStore,
  blob: NewBlob,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const body = await source.get(blob, { signal })
    // A target that refuses reads none of it: then nobody else hears how it ends.
    body.on('error', () => undefined)
    try {
      await target.put(body, { signal, sizeMax: blob.size, id: blob.id })
      return undefined
    } finally {
      body.destroy()
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!isOfBlob(error)) throw error
    return messageOf(error)
  }
}

async function isNamed(state: State, { id, location }: BlobRef): Promise<boolean> {
  const found = await state.query('select from blobs where id = $1 and location = $2', [
    id,
    location,
  ])
  return found.rowCount > 0
}

/** One statement: the row names the copy, and the other one is garbage, or neither is so. */
async function switchRow(
  state: State,
  blob: NewBlob,
  copy: Pick<NewBlob, 'location' | 'checksum'>,
): Promise<void> {
  await state.query(
    `with moved as (
       update blobs set location = $3, checksum = $5 where id = $1 and location = $2 returning id
     )
     insert into blob_garbage (location, id, size, since)
     -- Deleted meanwhile: then it is the copy that nobody names.
     select case when exists (select from moved) then $2 else $3 end, $1, $4, clock_timestamp()
     where exists (select from moved)
       or not exists (select from blobs where id = $1 and location = $3)
     on conflict (location, id) do nothing`,
    [blob.id, blob.location, copy.location, blob.size, copy.checksum],
  )
}
