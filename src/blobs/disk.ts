// The few file operations that the blob store does, as a seam: tests count them, stop at the n-th and
// make them fail.
import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, opendir, stat, statfs, unlink } from 'node:fs/promises'

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
    const file = await open(path, constants.O_RDONLY)
    const { size } = await file.stat()
    return {
      size,
      read: async (buffer, position) =>
        (await file.read(buffer, 0, buffer.length, position)).bytesRead,
      close: () => file.close(),
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
    const { bavail, blocks, bsize } = await statfs(path)
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize }
  },
}

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
