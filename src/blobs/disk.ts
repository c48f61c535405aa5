// The few file operations that the blob store does, as a seam: tests count them, stop at the n-th and
// make them fail.
import { close, closeSync, constants, fstatSync, open as openFile, read } from 'node:fs'
import { type FileHandle, mkdir, open, opendir, stat, statfs, unlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { freeBytesOf } from '#base/tenant-room.ts'

export interface BlobDisk {
  makeFolder(path: string): Promise<void>
  /** Makes a file that must not exist yet. */
  create(path: string): Promise<BlobWriter>
  /** Opens a file to read; rejects with ENOENT when there is none. */
  open(path: string): Promise<DiskReader>
  /** Makes the names in a folder durable. */
  syncFolder(path: string): Promise<void>
  /** Rejects with ENOENT when there is none. */
  stat(path: string): Promise<{ size: number; writtenMs: number }>
  /** Removes a file; rejects with ENOENT when there is none. */
  remove(path: string): Promise<void>
  names(path: string): AsyncIterable<string>
  /** Bytes free to us and in all. */
  space(path: string): Promise<{ freeBytes: number; totalBytes: number }>
}

export interface BlobWriter {
  /** Writes all of the chunks, one after the other, from a position. */
  write(chunks: readonly Buffer[], position: number): Promise<void>
  /** Makes the bytes durable against a power cut. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface DiskReader {
  readonly size: number
  /** Reads up to the buffer's length; 0 at the end. */
  read(buffer: Buffer, position: number): Promise<number>
  close(): Promise<void>
}

/** The local file system. */
export const fileDisk: BlobDisk = {
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: 0o700 })
  },
  async create(path) {
    const file = await open(path, 'wx', 0o600)
    return {
      write: (chunks, position) => writeAll(file, chunks, position),
      sync: () => file.datasync(),
      close: () => file.close(),
    }
  },
  async open(path) {
    const file = await openToRead(path, constants.O_RDONLY)
    const size = sizeOf(file)
    return {
      size,
      read: (buffer, position) => readInto(file, buffer, position),
      close: async () => (size <= CLOSED_AT_ONCE_MAX ? closeSync(file) : await closeLater(file)),
    }
  },
  async syncFolder(path) {
    const folder = await open(path, constants.O_RDONLY)
    try {
      await folder.sync()
    } finally {
      await folder.close()
    }
  },
  async stat(path) {
    const { size, mtimeMs } = await stat(path)
    return { size, writtenMs: mtimeMs }
  },
  remove: (path) => unlink(path),
  async *names(path) {
    for await (const entry of await opendir(path)) yield entry.name
  },
  async space(path) {
    const disk = await statfs(path)
    return { freeBytes: freeBytesOf(disk), totalBytes: disk.blocks * disk.bsize }
  },
}

// A turn of the pool of threads costs as much as reading 256 KiB. So what waits for no disk is done at once: the size of an
// open file is in memory. Bare descriptors take less than the objects of node:fs/promises. Together with buffers for blobs
// of every length, a read of 1 MiB takes 235 µs of CPU in place of 300.
const openToRead = promisify(openFile)
const closeLater = promisify(close)

/** Closing waits for the disk where the file was removed meanwhile, as its blocks become free then. */
const CLOSED_AT_ONCE_MAX = 1024 * 1024

function sizeOf(file: number): number {
  try {
    return fstatSync(file).size
  } catch (error) {
    closeSync(file)
    throw error
  }
}

const readInto = (file: number, buffer: Buffer, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    read(file, buffer, 0, buffer.length, position, (error, count) =>
      error === null ? resolve(count) : reject(error),
    )
  })

async function writeAll(
  file: FileHandle,
  chunks: readonly Buffer[],
  position: number,
): Promise<void> {
  const { bytesWritten } = await file.writev([...chunks], position)
  const length = chunks.reduce((total, chunk) => total + chunk.length, 0)
  if (bytesWritten === length) return
  // A short write, near the end of the disk say: go on from there, until all or an error.
  const rest = Buffer.concat(chunks)
  for (let done = bytesWritten; done < length;) {
    const more = await file.write(rest, done, length - done, position + done)
    done += more.bytesWritten
  }
}
