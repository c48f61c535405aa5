// Files and the standard input into a bucket: up to 8 MiB in one request, larger ones in parts.
import { createReadStream, type Dirent } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, join, relative, sep } from 'node:path'
import { addAbortSignal, type Readable } from 'node:stream'
import { Upload } from '@aws-sdk/lib-storage'
import { CommandError, EXIT, tell } from '#cli/output.ts'
import { contentTypeOf } from './content-type.ts'
import { abortUpload } from './open-uploads.ts'
import { folderOf, keyIn, printable, type ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'
import { CONCURRENCY, type Transfer } from './transfers.ts'

const PART_BYTES = 8 * 1_048_576
// Parts have numbers up to 10,000: the input of unknown length may be 78 GiB.
const MOST_PARTS = 10_000

export type UploadPlan = {
  readonly path: string
  readonly to: ObjectPlace
  readonly recursive: boolean
  /** Where undefined, each file's name gives the type. */
  readonly contentType: string | undefined
}

/** One file, or with `recursive` every file below a folder. */
export async function uploads(session: TransferSession, plan: UploadPlan): Promise<Transfer[]> {
  const { path, to, recursive, contentType } = plan
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? new CommandError(`No such file: ${path}`) : error
  })
  if (found.isDirectory()) {
    if (recursive) return await folderUploads(session, plan)
    throw new CommandError(`A folder: ${path}`, EXIT.usage, 'add --recursive')
  }
  if (!found.isFile())
    throw new CommandError(`Not a file or a folder: ${path}`, EXIT.usage, 'cp - s3://… < file')
  const key = keyIn(to.key, basename(path))
  const file = { path, bytes: found.size, lanes: CONCURRENCY, contentType }
  return [fileUpload(session, file, { ...to, key })]
}

async function folderUploads(
  session: TransferSession,
  { path: folder, to, contentType }: UploadPlan,
): Promise<Transfer[]> {
  const transfers: Transfer[] = []
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  for (const entry of entries) {
    session.signal.throwIfAborted()
    const path = join(entry.parentPath, entry.name)
    const bytes = await sizeOf(entry, path)
    if (bytes === undefined) continue
    const key = folderOf(to.key) + relative(folder, path).replaceAll(sep, '/')
    transfers.push(fileUpload(session, { path, bytes, lanes: 1, contentType }, { ...to, key }))
  }
  return transfers
}

/** Bytes of a file; undefined for folders and for files to leave out, which are reported. */
async function sizeOf(entry: Dirent, path: string): Promise<number | undefined> {
  if (entry.isDirectory()) return undefined
  if (entry.isFile()) return (await stat(path)).size
  // Links may lead anywhere, in circles too.
  tell(`left out, not a file: ${printable(path)}`)
  return undefined
}

type File = Pick<UploadPlan, 'path' | 'contentType'> & {
  readonly bytes: number
  readonly lanes: number
}

const fileUpload = (session: TransferSession, file: File, to: ObjectPlace): Transfer => ({
  bytes: file.bytes,
  run: async ({ moved }) => {
    // The library asks the path, not the stream, for the length: of a link, the link's own.
    const body = createReadStream(await realpath(file.path))
    const contentType = file.contentType ?? contentTypeOf(file.path)
    await upload(session, { body, to, bytes: file.bytes, lanes: file.lanes, contentType, moved })
  },
})

/** The standard input into one key. */
export function inputUpload(
  session: TransferSession,
  { to, contentType }: Pick<UploadPlan, 'to' | 'contentType'>,
): Transfer {
  if (to.key === '' || to.key.endsWith('/'))
    throw new CommandError('The standard input has no name', EXIT.usage, 'cp - s3://bucket/key')
  return {
    bytes: undefined,
    run: ({ moved }) =>
      upload(session, {
        body: process.stdin,
        to,
        bytes: 0,
        lanes: CONCURRENCY,
        contentType,
        moved,
      }),
  }
}

type Source = {
  readonly body: Readable
  readonly to: ObjectPlace
  readonly bytes: number
  readonly lanes: number
  readonly contentType: string | undefined
  readonly moved: (bytes: number) => void
}

async function upload(session: TransferSession, source: Source): Promise<void> {
  const { body, to, bytes, lanes, moved } = source
  const ContentType = source.contentType ?? contentTypeOf(to.key)
  // Not the library's own abort, which returns before the parts are removed: the input breaks, and we remove them.
  addAbortSignal(session.signal, body)
  const sending = new Upload({
    client: session.s3,
    params: { Bucket: to.bucket, Key: to.key, Body: body, ContentType },
    queueSize: lanes,
    leavePartsOnError: true,
    partSize: Math.max(PART_BYTES, Math.ceil(bytes / MOST_PARTS)),
  })
  let before = 0
  sending.on('httpUploadProgress', ({ loaded = 0 }) => {
    moved(loaded - before)
    before = loaded
  })
  try {
    await sending.done()
  } catch (error) {
    const { uploadId: UploadId } = sending
    if (UploadId !== undefined)
      await abortUpload(session, { Bucket: to.bucket, Key: to.key, UploadId })
    throw error
  } finally {
    body.destroy()
  }
}
