// Room of the disk that volumes are promised and have not taken yet: blocks of a file without a name, which others find in
// use. So no other product has to know of the promise. Pulls and restores reserve room under the same lock: neither takes
// what the other one has just found free. The end of the agent frees the blocks, however that comes, and no copy of the data
// folder has them.
import { open, rm, statfs, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { lockFile } from '#base/lock.ts'
import { takeBlocks } from '#node/take-blocks.ts'
import { promiseRoomOf, tenantBlocksOf } from '#base/tenant-room.ts'

export interface KeptRoom {
  /** The bytes that are kept now. */
  readonly bytes: number
  /**
   * Keeps that room, as far as the part of other products is left. Never takes the tenth of the disk that tenants'
   * writes stop at: volumes that fill up take it meanwhile. False where another work reserves room now: then again.
   */
  keep(bytes: number): Promise<boolean>
  /**
   * Makes a promise and keeps its room, before another work finds that free. `make` checks the room and returns the bytes of
   * all promises; it throws where the room is too small. Where the file system keeps no blocks, the promise alone counts.
   * Waits for others that reserve room until the signal.
   */
  promise(make: () => Promise<number>, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

const NAME = '.room'
/** Less is not worth a call. */
const STEP_BYTES = 1_048_576

/**
 * The folder is that of the volumes, and the lock that of room-lock.ts. Rejects where the file system keeps no blocks for a
 * file.
 */
export function createKeptRoom(folder: string, lock: string): KeptRoom {
  let file: FileHandle | undefined
  let heldBytes = 0
  let isPromising = false
  let shrinking: Promise<unknown> | undefined
  const size = async (bytes: number): Promise<true> => {
    file ??= await openNameless(join(folder, NAME))
    if (bytes < heldBytes) await file.truncate(bytes)
    else if (bytes > heldBytes) await allocate(file, heldBytes, bytes - heldBytes)
    heldBytes = bytes
    return true
  }
  const wantedOf = async (bytes: number): Promise<number> => {
    const disk = await statfs(folder)
    // Other products may use their part: that ends no promise.
    const moreBytes = Math.min(tenantBlocksOf(disk), Math.max(0, promiseRoomOf(disk)))
    return Math.min(bytes, Math.max(0, heldBytes + moreBytes))
  }
  const isWorthIt = (wanted: number): boolean =>
    Math.abs(wanted - heldBytes) >= STEP_BYTES || (wanted === 0 && heldBytes > 0)
  return {
    get bytes() {
      return heldBytes
    },
    async keep(bytes) {
      const wanted = await wantedOf(bytes)
      if (!isWorthIt(wanted)) return true
      if (isPromising) return false
      // Volumes that fill up wait for no other work.
      if (wanted < heldBytes) {
        const done = size(wanted)
        shrinking = done.catch(() => undefined)
        return await done
      }
      const held = await lockFile(lock, undefined, { read: true }).catch(orLocked)
      if (held === undefined) return false
      await using _ = held
      return await size(Math.max(heldBytes, await wantedOf(bytes)))
    },
    async promise(make, signal) {
      await using _ = await lockFile(lock, signal, { read: true })
      isPromising = true
      try {
        await shrinking
        const wanted = await wantedOf(await make())
        if (wanted > heldBytes) await size(wanted).catch(() => undefined)
      } finally {
        isPromising = false
      }
    },
    async close() {
      await file?.close()
      file = undefined
      heldBytes = 0
    },
  }
}

function orLocked(error: unknown): undefined {
  if ((error as { readonly code?: unknown }).code !== 'locked') throw error
}

async function openNameless(path: string): Promise<FileHandle> {
  const file = await open(path, 'w', 0o600)
  await rm(path)
  return file
}

/** The file has no name but that of the agent's descriptor. */
const allocate = (file: FileHandle, from: number, bytes: number): Promise<void> =>
  takeBlocks({ path: `/proc/${process.pid}/fd/${file.fd}`, from, bytes })
