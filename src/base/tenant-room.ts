// The room of a disk for tenants: its last tenth is kept for journals, the write-ahead log and promised volumes.
import { statfs } from 'node:fs/promises'

/** The share of a disk that may be in use before tenants' writes are refused. */
export const TENANTS_USE_MAX = 0.9
/** The rest. */
export const DISK_KEPT_PART = 0.1

export type DiskBlocks = {
  readonly bavail: number
  readonly blocks: number
  readonly bsize: number
}

/** Bytes that tenants may still take; below 0 where they have the tenth too. */
export const tenantRoomOf = ({ bavail, blocks, bsize }: DiskBlocks): number =>
  Math.floor((bavail - blocks * DISK_KEPT_PART) * bsize)

/** The part of a disk that promises to volumes leave to other products. */
const OTHERS_PART = 0.02

/** Bytes that may be promised to volumes. */
export const promiseRoomOf = (disk: DiskBlocks): number =>
  Math.floor(tenantRoomOf(disk) - disk.blocks * disk.bsize * OTHERS_PART)

/** Of the disk that has a folder. */
export const tenantRoom = async (folder: string): Promise<number> =>
  tenantRoomOf(await statfs(folder))
