// Reads single files out of a zip archive (APPNOTE.TXT 6.3.10): stored and deflate, no zip64, no
// encryption. A wheel's files are known beforehand, so sizes and hashes are the caller's to demand and
// an archive that claims otherwise is refused before or while it is unpacked.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, chmod, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createInflateRaw } from 'node:zlib'

import { artifactFault } from './faults.ts'

const END_SIGNATURE = 'PK\u0005\u0006'
const ENTRY_SIGNATURE = 0x02014b50
const LOCAL_SIGNATURE = 0x04034b50
const END_BYTES = 22
const ENTRY_BYTES = 46
const LOCAL_BYTES = 30
const COMMENT_BYTES_MAX = 0xffff
const DIRECTORY_BYTES_MAX = 16 * 1024 * 1024

type ZipEntry = {
  readonly method: number
  readonly compressedBytes: number
  readonly sizeBytes: number
  readonly headerOffset: number
}

/** An archive whose directory has been read. */
export type Archive = { readonly path: string; readonly entries: ReadonlyMap<string, ZipEntry> }

/** Opens an archive. Throws artifact_mismatch for what is not a plain zip file. */
export async function openArchive(path: string): Promise<Archive> {
  await using file = await open(path)
  const { size } = await file.stat()
  const tail = await readAt(file, Math.max(0, size - END_BYTES - COMMENT_BYTES_MAX), size)
  const end = tail.lastIndexOf(END_SIGNATURE)
  if (end < 0 || end + END_BYTES > tail.length) throw malformed('no end record')
  const bytes = tail.readUInt32LE(end + 12)
  const offset = tail.readUInt32LE(end + 16)
  if (bytes > DIRECTORY_BYTES_MAX || offset + bytes > size)
    throw malformed('directory out of range')
  const directory = await readAt(file, offset, offset + bytes)
  return { path, entries: parseDirectory(directory, tail.readUInt16LE(end + 10)) }
}

function parseDirectory(directory: Buffer, count: number): Map<string, ZipEntry> {
  const entries = new Map<string, ZipEntry>()
  let at = 0
  for (let index = 0; index < count; index++) {
    if (at + ENTRY_BYTES > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE)
      throw malformed('directory cut short')
    const nameBytes = directory.readUInt16LE(at + 28)
    const path = directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes)
    if ((directory.readUInt16LE(at + 8) & 1) !== 0) throw malformed(`encrypted: ${path}`)
    if (entries.has(path)) throw malformed(`twice in the directory: ${path}`)
    entries.set(path, {
      method: directory.readUInt16LE(at + 10),
      compressedBytes: directory.readUInt32LE(at + 20),
      sizeBytes: directory.readUInt32LE(at + 24),
      headerOffset: directory.readUInt32LE(at + 42),
    })
    at +=
      ENTRY_BYTES + nameBytes + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32)
  }
  return entries
}

/** What an unpacked file must be. */
export type Wanted = {
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly executable: boolean
}

/**
 * Unpacks one file to `target`, durable, and only if size and SHA-256 are the wanted ones. Never writes
 * more than the wanted size, whatever the archive inflates to.
 */
export async function unpack(
  archive: Archive,
  wanted: Wanted,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const entry = archive.entries.get(wanted.path)
  if (entry === undefined) throw malformed(`not in the archive: ${wanted.path}`)
  if (entry.sizeBytes !== wanted.sizeBytes) throw malformed(`not of the known size: ${wanted.path}`)
  const start = await dataOffset(archive.path, entry)
  const hash = createHash('sha256')
  async function* checked(chunks: AsyncIterable<Buffer>) {
    let bytes = 0
    for await (const chunk of chunks) {
      bytes += chunk.length
      if (bytes > wanted.sizeBytes) throw malformed(`larger than its known size: ${wanted.path}`)
      hash.update(chunk)
      yield chunk
    }
  }
  await mkdir(dirname(target), { recursive: true })
  const source = createReadStream(archive.path, { start, end: start + entry.compressedBytes - 1 })
  const sink = createWriteStream(target, { flags: 'wx', flush: true })
  await pipeline(source, inflater(entry, wanted.path), checked, sink, { signal })
  if (hash.digest('hex') !== wanted.sha256) throw malformed(`not the known bytes: ${wanted.path}`)
  await chmod(target, wanted.executable ? 0o755 : 0o644)
}

function inflater(entry: ZipEntry, path: string): Transform {
  if (entry.method === 0) return new PassThrough()
  if (entry.method === 8) return createInflateRaw({ chunkSize: 256 * 1024 })
  throw malformed(`compressed by method ${entry.method}: ${path}`)
}

async function dataOffset(path: string, entry: ZipEntry): Promise<number> {
  await using file = await open(path)
  const header = await readAt(file, entry.headerOffset, entry.headerOffset + LOCAL_BYTES)
  if (header.length < LOCAL_BYTES || header.readUInt32LE(0) !== LOCAL_SIGNATURE)
    throw malformed('a local header is missing')
  // The lengths of the local header count: they may differ from those of the directory.
  return entry.headerOffset + LOCAL_BYTES + header.readUInt16LE(26) + header.readUInt16LE(28)
}

async function readAt(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from)
  return buffer.subarray(0, bytesRead)
}

const malformed = (what: string) => artifactFault('mismatch', `The archive is not usable: ${what}`)
