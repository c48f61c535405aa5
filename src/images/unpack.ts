// The layers of an image, one above the other, in a folder. Source: OCI image-spec 1.1, "Image Layer Filesystem
// Changeset". Every file is readable by everybody and writable by nobody else: a cell of any user runs the image, from a
// read-only root. Device files and named pipes are left out.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  createWriteStream,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { extract, type Extract } from 'tar-stream'
import { messageOf } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { folderInside, hostile, entryParts, shownName } from './inside.ts'
import { imageUnsupported } from './manifest.ts'

/** The bytes and entries that the layers of an image may still take. */
export type UnpackRoom = {
  bytes: number
  entries: number
  /**
   * The most bytes of the paths that a layer names, with the folders around them: they are in memory until the layer
   * ends.
   */
  readonly layerPathBytes: number
  /** The part of the disk that the inodes may have, and that of each inode, in bytes. */
  inodesBytes: number
  readonly inodeBytes: number
  readonly tooLarge: () => Error
  /** Called with the bytes that are about to come to the disk; rejects where it has no room for them. */
  readonly wrote?: (bytes: number) => Promise<void>
}

export type Layer = {
  /** Compressed by gzip or zstd, or not. */
  readonly open: () => AsyncIterable<Buffer>
  /** SHA-256 of the bytes without compression. */
  readonly diffId: string
}

const WHITEOUT = '.wh.'
const OPAQUE = '.wh..wh..opq'
const MAGIC = { gzip: [0x1f, 0x8b], zstd: [0x28, 0xb5, 0x2f, 0xfd] }
const FOLDER_MODE = 0o755
const FILE_MODE = 0o644
const EXECUTE = 0o111
/** Of the disk, for a folder that no entry names, as the archive has no byte for it, and at most for the end of a file. */
const BLOCK_BYTES = 4096

/** Adds a layer to the folder. Throws image_hostile, image_too_large, image_damaged or image_unsupported. */
export async function unpackLayer(
  { open, diffId }: Layer,
  root: string,
  room: UnpackRoom,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256')
  const entries = extract()
  const made = new Set<string>()
  let pathBytes = 0
  let aheadBytes = 0
  const takeBytes = (bytes: number) => {
    room.bytes -= bytes
    aheadBytes += bytes
    if (room.bytes < 0) throw room.tooLarge()
  }
  const takeEntry = () => {
    aheadBytes += BLOCK_BYTES
    if (--room.entries < 0) throw hostile('it has too many entries')
  }
  const chargeInode = () => {
    room.inodesBytes -= room.inodeBytes
    aheadBytes += room.inodeBytes
    if (room.inodesBytes < 0) throw room.tooLarge()
  }
  const chargeFolder = () => {
    takeEntry()
    takeBytes(BLOCK_BYTES)
    chargeInode()
  }
  const keep = (path: string) => {
    for (let at = path; at.length > root.length && !made.has(at); at = dirname(at)) {
      pathBytes += Buffer.byteLength(at) - Buffer.byteLength(root)
      if (pathBytes > room.layerPathBytes)
        throw hostile('the paths of a layer are too long together')
      made.add(at)
    }
  }
  async function* counted(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      takeBytes(chunk.length)
      const bytes = aheadBytes
      aheadBytes = 0
      await room.wrote?.(bytes)
      hash.update(chunk)
      yield chunk
    }
  }
  const write = async () => {
    for await (const entry of entries) {
      takeEntry()
      await addEntry(entry, { root, made, keep, chargeFolder, chargeInode, signal }).catch(
        (error: unknown) => {
          throw describedEntry(error)
        },
      )
    }
  }
  try {
    const plain = await decompressed(open(), signal)
    await Promise.all([pipeline(plain, counted, entries, { signal }), write()])
  } catch (error) {
    throw described(error)
  }
  if (`sha256:${hash.digest('hex')}` !== diffId)
    throw fault('image_damaged', `Could not use the image: a layer is not ${diffId}`)
}

type Entry = Extract extends AsyncIterable<infer E> ? E : never
type Target = {
  readonly root: string
  /** Paths of this layer, which its own whiteouts leave. */
  readonly made: ReadonlySet<string>
  /** Adds a path, and the folders around the path, to those of this layer; may throw. */
  readonly keep: (path: string) => void
  /** Called before each folder that no entry names. */
  readonly chargeFolder: () => void
  /** Called before an entry is made that is no second name. */
  readonly chargeInode: () => void
  readonly signal: AbortSignal
}

async function addEntry(entry: Entry, target: Target): Promise<void> {
  const { root, made, keep, chargeFolder, chargeInode, signal } = target
  const { header } = entry
  const kind = kindOf(header)
  const parts = entryParts(header.name)
  const name = parts.at(-1)
  if (name === undefined) return void entry.resume()
  const folder = folderInside(root, parts.slice(0, -1), chargeFolder)
  const path = join(folder, name)
  if (name.startsWith(WHITEOUT)) {
    whiteOut(folder, name, made)
    return void entry.resume()
  }
  if (kind === 'left out') return void entry.resume()
  const isFolder = lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
  if (!(isFolder && kind === 'folder')) {
    if (kind !== 'link') chargeInode()
    rmSync(path, { recursive: true, force: true })
  }
  if (kind === 'folder') {
    if (!isFolder) mkdirSync(path)
    chmodSync(path, FOLDER_MODE)
  } else if (kind === 'link') link(target, header.linkname ?? '', path)
  else if (kind === 'symbolic link') symlinkSync(header.linkname ?? '', path)
  else {
    const isProgram = ((header.mode ?? 0) & EXECUTE) !== 0
    await pipeline(entry, createWriteStream(path, { flags: 'wx', mode: FILE_MODE }), { signal })
    chmodSync(path, isProgram ? FILE_MODE | EXECUTE : FILE_MODE)
    if (header.mtime !== undefined) utimesSync(path, header.mtime, header.mtime)
  }
  entry.resume()
  keep(path)
}

type Kind = 'file' | 'folder' | 'link' | 'symbolic link' | 'left out'
const KINDS: Readonly<Record<string, Kind>> = {
  file: 'file',
  'contiguous-file': 'file',
  directory: 'folder',
  link: 'link',
  symlink: 'symbolic link',
  'character-device': 'left out',
  'block-device': 'left out',
  fifo: 'left out',
}
/** Of pax, for a file whose holes are not in the archive. */
const SPARSE = 'GNU.sparse.'

/** Throws image_unsupported for a sparse file, whose bytes are not those of the archive, and for an unknown type. */
function kindOf({ name, type, pax }: Entry['header']): Kind {
  const words = (pax ?? {}) as Readonly<Record<string, string>>
  const isSparse = Object.keys(words).some((key) => key.startsWith(SPARSE))
  // tar-stream has no type for the sparse files of GNU, nor for other extensions.
  const kind = isSparse ? undefined : KINDS[type ?? '']
  if (kind !== undefined) return kind
  const found = shownName(words[`${SPARSE}name`] ?? name)
  throw imageUnsupported(`the entry ${found} of a layer is a sparse file, or of an unknown type`)
}

/** A second name of a file of the image. */
function link({ root, chargeFolder }: Target, name: string, path: string): void {
  const parts = entryParts(name)
  const first = join(folderInside(root, parts.slice(0, -1), chargeFolder), parts.at(-1) ?? '')
  const found = lstatSync(first, { throwIfNoEntry: false })
  if (found === undefined || found.isDirectory()) throw hostile('a link leads to no file of it')
  linkSync(first, path)
}

function whiteOut(folder: string, name: string, made: ReadonlySet<string>): void {
  const gone = name === OPAQUE ? readdirSync(folder) : [name.slice(WHITEOUT.length)]
  for (const one of gone) {
    if (one === '' || one === '.' || one === '..') throw hostile('a whiteout names no file')
    const path = join(folder, one)
    if (!made.has(path)) rmSync(path, { recursive: true, force: true })
  }
}

/** The bytes without compression, which their first bytes tell: media types of registries are not always right. */
async function decompressed(bytes: AsyncIterable<Buffer>, signal: AbortSignal): Promise<Readable> {
  const source = bytes[Symbol.asyncIterator]()
  const first = await source.next()
  const head: Buffer = first.done === true ? Buffer.alloc(0) : first.value
  const whole = Readable.from(
    (async function* () {
      if (first.done === true) return
      yield head
      yield* { [Symbol.asyncIterator]: () => source }
    })(),
  )
  const starts = (magic: readonly number[]) => magic.every((byte, at) => head[at] === byte)
  const decoder = starts(MAGIC.gzip)
    ? createGunzip()
    : starts(MAGIC.zstd)
      ? createZstdDecompress()
      : undefined
  if (decoder === undefined) return whole
  // Its failure is that of the decoder, which the reader sees.
  pipeline(whole, decoder, { signal }).catch(() => undefined)
  return decoder
}

/** Codes of the system for a name or a target that cannot be; a full disk and a denied write are faults of the machine. */
const ENTRY_CODES = new Set(
  'EEXIST EINVAL EISDIR ELOOP EMLINK ENAMETOOLONG ENOENT ENOTDIR ENOTEMPTY'.split(' '),
)

/** The failure of an entry; a fault of the image where its names or times cannot be. */
function describedEntry(error: unknown): unknown {
  const code = codeOf(error)
  return ENTRY_CODES.has(code) || code.startsWith('ERR_INVALID_') || code === 'ERR_OUT_OF_RANGE'
    ? hostile(`an entry cannot be made (${code})`)
    : error
}

/** Beginnings of the messages of tar-stream, whose errors have no code. */
const TAR_MESSAGES = [
  'Invalid tar header',
  'Invalid header',
  'Header exceeds max size',
  'Unexpected end of data',
]

/** An archive that breaks off, or is none, as a fault of the image. */
function described(error: unknown): unknown {
  const code = codeOf(error)
  const isOfTar = code === '' && TAR_MESSAGES.some((begin) => messageOf(error).startsWith(begin))
  return isOfTar || code.startsWith('Z_') || code.startsWith('ZSTD_')
    ? fault('image_damaged', 'Could not use the image: a layer is no archive, or not a whole one', {
        cause: error,
      })
    : error
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''
