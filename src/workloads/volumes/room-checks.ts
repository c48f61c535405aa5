// When the files of volumes are checked. A check of 1,000 volumes takes 18 ms of CPU, and the free room of the disk 0.1 ms.
// Volumes that write or give back move the free room, so checks of a disk at rest find nothing: four a second cost 7.3 % of a
// core, and these 0.65 %.
import { DISK_KEPT_PART, type DiskBlocks } from '#base/tenant-room.ts'

export interface RoomChecks {
  /** True where so much may have changed that the files are to be checked. */
  isDue(disk: DiskBlocks): boolean
  /** The disk after a check. */
  checked(disk: DiskBlocks): void
  /** Volumes were made, grown or removed. */
  changed(): void
}

/** Volumes can write what others delete: then the free room says nothing. */
const REST_MS_MAX = 5000
/** Of the part of the disk that has what is written between two checks. */
const MOVED_PART = 0.01
const MOVED_BYTES_MIN = 1_048_576

export function createRoomChecks(nowMs: () => number): RoomChecks {
  let last: { readonly freeBytes: number; readonly atMs: number } | undefined
  return {
    isDue(disk) {
      if (last === undefined || nowMs() - last.atMs >= REST_MS_MAX) return true
      const keptBytes = disk.blocks * disk.bsize * DISK_KEPT_PART
      const movedBytes = Math.abs(freeBytesOf(disk) - last.freeBytes)
      return movedBytes >= Math.max(MOVED_BYTES_MIN, keptBytes * MOVED_PART)
    },
    checked: (disk) => void (last = { freeBytes: freeBytesOf(disk), atMs: nowMs() }),
    changed: () => void (last = undefined),
  }
}

const freeBytesOf = ({ bavail, bsize }: DiskBlocks): number => bavail * bsize
