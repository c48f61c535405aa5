// Moves one blob to another store: copies it, reads the copy, then changes its row. Reads follow the row; running
// reads finish, because the old copy stays for an hour.
import { fault } from '#contract/errors.ts'
import { messageOf } from '#base/errors.ts'
import type { BlobRef, BlobStore, NewBlob } from '#blobs/blob.ts'
import type { State } from '#state/connect.ts'
import { isOfBlob } from '#blobs/faults.ts'
import { readAgain } from './scrub.ts'

export type MovedBlob = { readonly id: string; readonly size: number; readonly checksum: string }

/**
 * Moves a blob; returns the damage of its source, or undefined when the blob was moved or deleted meanwhile. Throws
 * when a store fails: the row is unchanged and the move can be tried again. The caller excludes two moves of one
 * blob.
 */
export async function moveBlob(
  state: State,
  { source, target }: { source: BlobStore; target: BlobStore },
  { id, size, checksum }: MovedBlob,
  signal: AbortSignal,
): Promise<string | undefined> {
  const blob: NewBlob = { id, location: source.location, size, checksum }
  // The remains of an earlier move: no garbage any more, as the blob is written anew.
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

/** The damage of the source; undefined when it was copied. Throws the errors of the target. */
async function copy(
  source: BlobStore,
  target: BlobStore,
  blob: NewBlob,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const body = await source.get(blob, { signal })
    // A target that refuses reads nothing, so the source's end is handled here.
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

/** One statement, so that the row names the copy and the original is garbage, or neither. */
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
     -- Deleted meanwhile: the copy is garbage.
     select case when exists (select from moved) then $2 else $3 end, $1, $4, clock_timestamp()
     where exists (select from moved)
       or not exists (select from blobs where id = $1 and location = $3)
     on conflict (location, id) do nothing`,
    [blob.id, blob.location, copy.location, blob.size, copy.checksum],
  )
}
