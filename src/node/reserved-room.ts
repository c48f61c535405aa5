// The room of the disk that a pull or a restore has reserved: blocks of a file, which all others find in use. So pulls,
// restores, buckets and volumes need to know nothing of each other, and the end of the work gives the room back with its files.
import { ftruncateSync } from 'node:fs'
import { mkdir, open, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DiskRoom } from '#base/disk-room.ts'
import { lockFile } from '#base/lock.ts'
import { tenantRoom } from '#base/tenant-room.ts'
import { takeBlocks } from './take-blocks.ts'

export type ReservedRoomDeps = {
  /** Of the file that has the blocks. */
  readonly path: string
  /** The lock of room-lock.ts: each work takes its room before another one checks the disk. */
  readonly lock: string
  readonly signal: AbortSignal
  /** Bytes that tenants may still take of the disk of a folder. */
  readonly roomOf?: (folder: string) => Promise<number>
}

/** Files are written in smaller pieces; the room of each piece is given back with others. */
const STEP_BYTES = 8_388_608

export function createReservedRoom({
  path,
  lock,
  signal,
  roomOf = tenantRoom,
}: ReservedRoomDeps): DiskRoom {
  let file: FileHandle | undefined
  let heldBytes = 0
  let wroteBytes = 0
  const shrink = () => {
    heldBytes = Math.max(0, heldBytes - wroteBytes)
    wroteBytes = 0
    if (file !== undefined) ftruncateSync(file.fd, heldBytes)
  }
  const give = async () => {
    await file?.close()
    file = undefined
    heldBytes = 0
    wroteBytes = 0
    await rm(path, { force: true })
  }
  return {
    async reserve(bytes) {
      await mkdir(dirname(path), { recursive: true })
      file ??= await open(path, 'w', 0o600)
      shrink()
      if (bytes === 0) return (await roomOf(dirname(path))) >= 0
      await using _ = await lockFile(lock, signal, { read: true })
      if ((await roomOf(dirname(path))) < bytes) return false
      try {
        await takeBlocks({ path, from: heldBytes, bytes }, signal)
        heldBytes += bytes
        return true
      } catch {
        signal.throwIfAborted()
        // A file system that keeps no blocks for a file reserves nothing: what is written counts there alone.
        return (await roomOf(dirname(path))) >= bytes
      }
    },
    wrote(bytes) {
      wroteBytes += bytes
      if (wroteBytes >= STEP_BYTES) shrink()
    },
    give,
    [Symbol.asyncDispose]: give,
  }
}
