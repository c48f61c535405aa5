// The file of a volume: a file system of ext4, sparse, so that it takes the room of its data alone. Only the kernel,
// which mounts it, and the tools of ext4, while it is not mounted, read its content.
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { open, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { sleep } from '#base/clock.ts'
import { baseFault } from '#base/own-errors.ts'

const run = promisify(execFile)
const FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']
const TOOLS = ['mke2fs', 'e2fsck', 'resize2fs', 'debugfs', 'losetup', 'mount'] as const
type Tool = (typeof TOOLS)[number]
/** A journal of 4 MB, a file for each 16 kB at any size, and no room that is root's alone. */
const FILE_SYSTEM = ['-b', '4096', '-i', '16384', '-J', 'size=4', '-m', '0'] as const
const TOOL_MS = 120_000
/** A check reads more, the larger the file system is: a full one at least 50 MB/s so. */
const TOOL_MS_PER_GB = 2000
const BYTES_PER_GB = 1e9
/** Bytes of a block of ext4. */
const BLOCK_BYTES = 4096
const SUPERBLOCK_BYTES = 1024
/** e2fsck has mended what it says: the journal of a file system that was cut off. */
const MENDED = 1
/** It has found more than it mends without a person. */
const UNMENDED = 4
/** The file is locked by a tool that an earlier agent has begun. */
const LOCKED = 75
const FREE_MS = 10_000
const LOOK_MS = 50

/** Why the machine can have no volumes, in words; undefined where it can. */
export function machineLacks(level: string): string | undefined {
  if (level !== 'root') return 'cells are not isolated by root'
  if (!existsSync('/dev/loop-control')) return 'there are no loop devices'
  const absent = TOOLS.filter((tool) => !FOLDERS.some((folder) => existsSync(join(folder, tool))))
  return absent.length === 0 ? undefined : `there is no ${absent.join(', ')}`
}

/** Makes the file, durably, with an empty file system of the size. */
export async function makeVolumeImage(path: string, bytes: number): Promise<void> {
  const part = `${path}.part`
  await rm(part, { force: true })
  const file = await open(part, 'wx', 0o600)
  try {
    await file.truncate(wholeBlocks(bytes))
    await tool('mke2fs', '-q', '-F', '-t', 'ext4', ...FILE_SYSTEM, part)
    await withoutLostFound(part)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(part, path)
  await syncFolderOf(path)
}

const growingOf = (path: string): string => `${path}.growing`

/** A file that is not whole is of a growth that was cut off. */
export type VolumeImage = { readonly sizeBytes: number; readonly isWhole: boolean }

/** Undefined where there is none. */
export async function findImage(path: string): Promise<VolumeImage | undefined> {
  const isWhole = existsSync(path)
  if (!isWhole && !existsSync(growingOf(path))) return undefined
  const { size: sizeBytes } = await stat(isWhole ? path : growingOf(path))
  return { sizeBytes, isWhole }
}

/** The file is as it was before its growth. */
export class VolumeNotGrown extends Error {}

/**
 * Grows the file system to the size; goes on where an earlier growth was cut off. Throws VolumeNotGrown where the file system
 * has faults that need a person, or its check takes too long.
 */
export async function growVolumeImage(path: string, bytes: number): Promise<void> {
  const growing = growingOf(path)
  if (existsSync(path)) {
    await untilFree(path)
    await rename(path, growing)
  }
  const file = await open(growing, 'r+')
  try {
    const { size } = await file.stat()
    // That of the file is the new one already where an earlier growth was cut off.
    const before = await fileSystemBytes(file)
    // First, as the size is a promise of room: a growth that is cut off goes on without another one.
    await file.truncate(Math.max(size, wholeBlocks(bytes)))
    await checkFileSystem(growing, bytes).catch(async (cause: unknown) => {
      const why = whyNotGrown(cause, bytes)
      if (why === undefined) throw cause
      await file.truncate(before)
      await rename(growing, path)
      await syncFolderOf(path)
      throw new VolumeNotGrown(why, { cause })
    })
    await toolFor(bytes, growing)('resize2fs', growing)
    await withoutLostFound(growing)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(growing, path)
  await syncFolderOf(path)
}

function whyNotGrown(error: unknown, bytes: number): string | undefined {
  const { killed, code } = error as { readonly killed?: unknown; readonly code?: unknown }
  if (killed === true)
    return `the check of its file system took more than ${toolMsOf(bytes) / 1000} s`
  return code === UNMENDED
    ? 'its file system has faults that e2fsck does not mend by itself'
    : undefined
}

/** The size by the superblock (ext4: s_blocks_count_lo and _hi, s_log_block_size). */
async function fileSystemBytes(file: FileHandle): Promise<number> {
  const { buffer } = await file.read(Buffer.alloc(SUPERBLOCK_BYTES), 0, SUPERBLOCK_BYTES, 1024)
  const blocks = buffer.readUInt32LE(0x150) * 2 ** 32 + buffer.readUInt32LE(4)
  return blocks * 1024 * 2 ** buffer.readUInt32LE(0x18)
}

/** The size of the file: whole blocks. */
export const wholeBlocks = (bytes: number): number => bytes - (bytes % BLOCK_BYTES)

async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r')
  await folder.sync().finally(() => folder.close())
}

const checkFileSystem = (path: string, bytes: number): Promise<unknown> =>
  toolFor(bytes, path)('e2fsck', '-f', '-p', path).catch((error: unknown) => {
    if ((error as { readonly code?: unknown }).code !== MENDED) throw error
  })

/** Programs take a folder with an entry for one that is used already. */
const withoutLostFound = (path: string): Promise<unknown> =>
  toolFor(0, path)('debugfs', '-w', '-R', 'rmdir lost+found', path)

/** The kernel unmounts a moment after the last process that had it mounted. */
async function untilFree(path: string): Promise<void> {
  for (let lastMs = performance.now() + FREE_MS; ;) {
    const { stdout } = await tool('losetup', '--associated', path)
    if (stdout === '') return
    if (performance.now() > lastMs) throw baseFault('internal', `The volume is in use: ${path}`)
    await sleep(LOOK_MS)
  }
}

/**
 * For a file system of the size. A tool outlives an agent that is killed, so it has the lock of its file: two at once would
 * destroy the file system. The next agent waits for the lock for half of the time of a tool more, and tries again later.
 */
const toolFor =
  (bytes: number, file?: string) =>
  (name: Tool, ...words: readonly string[]) => {
    const toolMs = toolMsOf(bytes)
    const waitS = String(Math.floor(toolMs / 2000))
    const timeout = file === undefined ? toolMs : 1.5 * toolMs
    const lock = ['flock', '--no-fork', '-x', '-w', waitS, '-E', String(LOCKED)]
    const [program = name, ...all] = [
      ...(file === undefined ? [] : [...lock, file]),
      name,
      ...words,
    ]
    return run(program, all, { env: { PATH: FOLDERS.join(':') }, timeout })
  }

export const toolMsOf = (bytes: number): number =>
  TOOL_MS + Math.ceil(bytes / BYTES_PER_GB) * TOOL_MS_PER_GB

const tool = toolFor(0)
