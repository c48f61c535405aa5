// The steps of one put: create, write, sync the file and its name, close. Until the last one has succeeded
// nothing is acknowledged; what a kill leaves behind is a file that no row names.
import { dirname } from 'node:path'
import { messageOf } from '#base/errors.ts'
import type { NewBlob } from './blob.ts'
import type { BlobDisk, BlobWriter } from './disk.ts'
import { isFull, storageFull } from './faults.ts'
import type { Fence } from './fence.ts'
import { writeBody } from './fs-write.ts'

export type BlobWriting = {
  readonly disk: BlobDisk
  readonly fence: Fence
  readonly location: string
  readonly syncFolder: (folder: string) => Promise<void>
  readonly hasSpace: () => Promise<boolean>
}

/** Throws storage_fenced, storage_full. */
export async function admitWrite({ fence, hasSpace }: BlobWriting): Promise<void> {
  fence.check()
  if (!(await hasSpace())) throw storageFull()
}

export async function fsPut(
  writing: BlobWriting,
  { id, path }: { id: string; path: string },
  body: AsyncIterable<Buffer>,
  given: { signal: AbortSignal; sizeMax: number },
): Promise<NewBlob> {
  const { disk, fence, location } = writing
  given.signal.throwIfAborted()
  await admitWrite(writing)
  const file = withinRoom(writing, fence.guard(await create(disk, path)))
  let closed = false
  try {
    const written = await writeBody(file, body, given)
    // The name as well as the bytes: with the file's sync alone one object of five was gone after a
    // power cut.
    await Promise.all([file.sync(), fence.durable(writing.syncFolder(dirname(path)))])
    closed = true
    await file.close()
    given.signal.throwIfAborted()
    // Another put may have found meanwhile that the disk lost bytes that it had acknowledged.
    fence.check()
    return { location, id, ...written }
  } catch (error) {
    await discard(writing, closed ? undefined : file, path)
    throw error
  }
}

/**
 * A file that takes no more once tenants may not write: up to 256 bodies of 5 GiB may have begun before. Written
 * bytes count as used before they are synced: file systems reserve their blocks at once.
 */
const withinRoom = (writing: BlobWriting, file: BlobWriter): BlobWriter => ({
  ...file,
  async write(chunks, position) {
    await admitWrite(writing)
    await file.write(chunks, position)
  },
})

async function create(disk: BlobDisk, path: string): Promise<BlobWriter> {
  try {
    return await disk.create(path)
  } catch (error) {
    throw isFull(error) ? storageFull(error) : error
  }
}

/** The first error is the one to tell; what cannot be removed now is the sweeper's. */
async function discard(writing: BlobWriting, file: BlobWriter | undefined, path: string) {
  await file?.close().catch(() => undefined)
  await writing.disk
    .remove(path)
    .catch((error: unknown) => writing.fence.left(path, messageOf(error)))
}
