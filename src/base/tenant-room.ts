// The room of a disk for tenants: its last tenth, of bytes and of inodes, is kept for journals, the write-ahead log and promised
// volumes.
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
type DiskInodes = {
  /** 0 where the file system makes inodes as files need them. */
  readonly files: number
  readonly ffree: number
}

/** The size of an inode itself (XFS), where the file system has no number of them. */
const INODE_BYTES = 512

/** The part of a disk that an inode takes, in bytes: without inodes the rest of the disk is of no use. */
export const inodeBytesOf = ({ blocks, bsize, files }: DiskBlocks & DiskInodes): number =>
  files > 0 ? Math.ceil((blocks * bsize) / files) : INODE_BYTES

/** The free part of a disk, in bytes: that of its blocks, or that of its inodes where these are fewer. */
export const freeBytesOf = (disk: DiskBlocks & DiskInodes): number => {
  const { bavail, bsize, files, ffree } = disk
  return files > 0 ? Math.min(bavail * bsize, ffree * inodeBytesOf(disk)) : bavail * bsize
}

const keptBytesOf = ({ blocks, bsize }: DiskBlocks): number => blocks * bsize * DISK_KEPT_PART

/** Bytes that tenants may still take; below 0 where they have the tenth too. */
export const tenantRoomOf = (disk: DiskBlocks & DiskInodes): number =>
  Math.floor(freeBytesOf(disk) - keptBytesOf(disk))

/** The same of the blocks alone, which volumes take: each of their files has one inode. */
export const tenantBlocksOf = (disk: DiskBlocks): number =>
  Math.floor(disk.bavail * disk.bsize - keptBytesOf(disk))

/** The part of a disk that promises to volumes leave to other products. */
const OTHERS_PART = 0.02

/** Bytes that may be promised to volumes. */
export const promiseRoomOf = (disk: DiskBlocks): number =>
  Math.floor(tenantBlocksOf(disk) - disk.blocks * disk.bsize * OTHERS_PART)

/** Of the disk that has a folder. */
export const tenantRoom = async (folder: string): Promise<number> =>
  tenantRoomOf(await statfs(folder))
