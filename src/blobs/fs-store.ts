// Blobs as files: `xx/<uuid>` in one folder, written once, synced with their name before put() resolves.
// After an error of write, sync or close nothing more is written: the kernel may have dropped the bytes
// and say OK the next time, so that a retry would acknowledge what is not there.
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Clock } from '#base/clock.ts'
import { invariant } from '#base/errors.ts'
import type { Logger } from '#base/log.ts'
import { TENANTS_USE_MAX } from '#base/tenant-room.ts'
import { type BlobStat, type BlobStore, type ByteRange, type NewBlob, SHARDS } from './blob.ts'
import { type BlobDisk, fileDisk } from './disk.ts'
import { blobDamaged, blobMissing, isMissing } from './faults.ts'
import { createFolderSync } from './folder-sync.ts'
import { createFence } from './fence.ts'
import { admitWrite, fsPut } from './fs-put.ts'
import { readFile } from './fs-read.ts'
import { createReadBuffers, type ReadBuffers } from './read-buffers.ts'
import { createSpaceCheck } from './space.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export type FsStoreOptions = {
  readonly folder: string
  readonly location: string
  readonly log: Logger
  readonly clock: Clock
  readonly disk?: BlobDisk
  /** The share of the disk that may be in use before writes are refused. */
  readonly usedMax?: number
}

/** Opens the store and makes its 256 folders where they are missing. */
export async function createFsStore(options: FsStoreOptions): Promise<BlobStore> {
  const { folder, location, log, clock, disk = fileDisk, usedMax = TENANTS_USE_MAX } = options
  await makeShards(disk, folder)
  const fence = createFence({ log, folder })
  const writing = {
    disk,
    fence,
    location,
    syncFolder: createFolderSync(disk),
    hasSpace: createSpaceCheck({ disk, clock, folder, usedMax }),
  }
  const buffers = createReadBuffers()
  return {
    location,
    admit: () => admitWrite(writing),
    put(body, { id = randomUUID(), ...given }) {
      return fsPut(writing, { id, path: pathOf(folder, id) }, body, given)
    },
    get: (blob, reading) => get(disk, folder, blob, { ...reading, buffers }),
    async delete({ id }) {
      await orMissing(disk.remove(pathOf(folder, id)))
    },
    async stat(id) {
      const found = await orMissing(disk.stat(pathOf(folder, id)))
      return found && { id, ...found }
    },
    list: (shard, signal) => list(disk, folder, shard, signal),
    fenced: () => fence.reason(),
  }
}

function pathOf(folder: string, id: string): string {
  invariant(ID.test(id), `a blob's id is a lower-case UUID: ${id}`)
  return join(folder, id.slice(0, 2), id)
}

async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function get(
  disk: BlobDisk,
  folder: string,
  blob: NewBlob,
  reading: { signal: AbortSignal; range?: ByteRange; buffers: ReadBuffers },
) {
  reading.signal.throwIfAborted()
  const file = await orMissing(disk.open(pathOf(folder, blob.id)))
  if (file === undefined) throw blobMissing(blob.id)
  try {
    if (file.size !== blob.size)
      throw blobDamaged(blob.id, `it has ${file.size} bytes, not ${blob.size}`)
    return readFile(file, blob, reading)
  } catch (error) {
    await file.close()
    throw error
  }
}

async function* list(
  disk: BlobDisk,
  folder: string,
  shard: string,
  signal: AbortSignal,
): AsyncGenerator<BlobStat> {
  for await (const name of disk.names(join(folder, shard))) {
    signal.throwIfAborted()
    if (!ID.test(name)) continue
    const found = await orMissing(disk.stat(pathOf(folder, name)))
    if (found !== undefined) yield { id: name, ...found }
  }
}

/** Makes only missing folders: making all took 16 ms of CPU at each start of a process. */
async function makeShards(disk: BlobDisk, folder: string): Promise<void> {
  await disk.makeFolder(folder)
  const there = new Set<string>()
  for await (const name of disk.names(folder)) there.add(name)
  for (const shard of SHARDS) if (!there.has(shard)) await disk.makeFolder(join(folder, shard))
  await disk.syncFolder(folder)
}
