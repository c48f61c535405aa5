// Reads single files out of a zip archive. The caller knows the size and the SHA-256 of each file beforehand,
// so an archive with other contents is refused before or while a file is unpacked.
import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openPromise, type Entry, type ZipFile } from 'yauzl'
import { messageOf } from '#base/errors.ts'
import { artifactFault } from './faults.ts'

const ENTRIES_MAX = 100_000

/** An archive whose directory was read. Dispose of the archive to close its file. */
export type Archive = Disposable & {
  readonly file: ZipFile
  readonly entries: ReadonlyMap<string, Entry>
}

/** Opens an archive. Throws artifact_mismatch for a file that is no plain zip archive. */
export async function openArchive(path: string): Promise<Archive> {
  const file = await openPromise(path, { autoClose: false }).catch(refuse)
  const entries = new Map<string, Entry>()
  try {
    for await (const entry of file.eachEntry()) {
      if (entry.isEncrypted()) throw malformed(`encrypted: ${entry.fileName}`)
      if (entries.has(entry.fileName)) throw malformed(`twice in the directory: ${entry.fileName}`)
      if (entries.size >= ENTRIES_MAX) throw malformed(`more than ${ENTRIES_MAX} files`)
      entries.set(entry.fileName, entry)
    }
  } catch (error) {
    file.close()
    refuse(error)
  }
  return { file, entries, [Symbol.dispose]: () => file.close() }
}

/** The properties that an unpacked file must have. */
export type UnpackedEntry = {
  readonly path: string
  readonly sizeBytes: number
  readonly sha256: string
  readonly executable: boolean
}

/**
 * Unpacks one file to `target`, durable, and only with the wanted size and SHA-256. Never writes more than
 * the wanted size, whatever the archive inflates to. Throws artifact_mismatch.
 */
export async function unpack(
  { file, entries }: Archive,
  wanted: UnpackedEntry,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const entry = entries.get(wanted.path)
  if (entry === undefined) throw malformed(`not in the archive: ${wanted.path}`)
  if (entry.uncompressedSize !== wanted.sizeBytes)
    throw malformed(`not of the known size: ${wanted.path}`)
  const hash = createHash('sha256')
  async function* checked(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
  }
  await mkdir(dirname(target), { recursive: true })
  // The stream ends with an error at the first byte beyond the declared size.
  const source = await file.openReadStreamPromise(entry, {}).catch(refuse)
  const sink = createWriteStream(target, { flags: 'wx', flush: true })
  await pipeline(source, checked, sink, { signal }).catch((error: unknown) => {
    if (isSystemError(error) || signal.aborted) throw error
    refuse(error)
  })
  if (hash.digest('hex') !== wanted.sha256) throw malformed(`not the known bytes: ${wanted.path}`)
  await chmod(target, wanted.executable ? 0o755 : 0o644)
}

/** Errors of the disk have an errno; errors of yauzl and zlib have none, or a positive or negative zlib number. */
const isSystemError = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && typeof error.syscall === 'string'

const malformed = (problem: string) =>
  artifactFault('artifact_mismatch', `The archive is not usable: ${problem}`)

/** Throws errors of yauzl as artifact_mismatch, and faults of ours as they are. */
function refuse(error: unknown): never {
  throw error instanceof Error && 'code' in error && error.code === 'artifact_mismatch'
    ? error
    : malformed(messageOf(error))
}
