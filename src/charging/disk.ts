// The few file operations that the journal does, as a seam: tests count them, cut the power between
// them and make them fail; the simulator keeps the files in memory.
import {
  closeSync,
  fdatasync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { fault } from '#contract/errors.ts'

export interface Disk {
  list(): string[]
  read(name: string): Buffer
  /** Makes a file of `size` zero bytes that begins with `head`, durable with its name. */
  create(name: string, head: Uint8Array, size: number): DiskFile
  remove(name: string): void
  /** Gives a file another name, durably. */
  rename(name: string, to: string): void
}

export interface DiskFile {
  readonly name: string
  /** Writes all the bytes at a position: when it returns, kill -9 cannot lose them. */
  write(bytes: Uint8Array, position: number): void
  /** Makes all earlier writes durable against a power cut. */
  sync(): Promise<void>
  close(): void
}

/** A folder of the local file system. */
export function createDisk(folder: string): Disk {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return {
    list: () => readdirSync(folder).toSorted(),
    read: (name) => readFileSync(join(folder, name)),
    create: (name, head, size) => create(folder, name, head, size),
    remove(name) {
      unlinkSync(join(folder, name))
      syncFolder(folder)
    },
    rename(name, to) {
      renameSync(join(folder, name), join(folder, to))
      syncFolder(folder)
    },
  }
}

function create(folder: string, name: string, head: Uint8Array, size: number): DiskFile {
  const fd = openSync(join(folder, name), 'wx', 0o600)
  try {
    fill(fd, head, size)
  } catch (cause) {
    closeSync(fd)
    // A file without a header is no segment, and would block the next attempt.
    unlinkSync(join(folder, name))
    const full = (cause as NodeJS.ErrnoException).code === 'ENOSPC' ? ': the disk is full' : ''
    throw fault(
      'journal_not_made',
      `Could not make a journal of ${size} bytes in ${folder}${full}`,
      { cause },
    )
  }
  syncFolder(folder)
  return {
    name,
    write: (bytes, position) => writeAll(fd, bytes, position),
    sync: () =>
      new Promise((resolve, reject) =>
        fdatasync(fd, (error) => (error ? reject(error) : resolve())),
      ),
    close: () => closeSync(fd),
  }
}

function fill(fd: number, head: Uint8Array, size: number): void {
  // Real zeros, not a hole: later writes need no new blocks, so the disk cannot be full in the middle
  // of a segment and fdatasync has no metadata to write.
  writeAll(fd, Buffer.alloc(size), 0)
  writeAll(fd, head, 0)
  fsyncSync(fd)
}

function writeAll(fd: number, bytes: Uint8Array, position: number): void {
  let done = 0
  while (done < bytes.length)
    done += writeSync(fd, bytes, done, bytes.length - done, position + done)
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r')
  fsyncSync(fd)
  closeSync(fd)
}
