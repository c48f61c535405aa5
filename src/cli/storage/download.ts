// Objects into files and to the standard output. A file appears under its name when it is complete; until
// then it has another one, and a failure removes it.
import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Readable, Transform, type Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { GetObjectCommand } from '@aws-sdk/client-s3'
import { CommandError, EXIT } from '#cli/output.ts'
import { objectsBelow } from './objects.ts'
import { placeText, folderOf, pathIn, type ObjectPlace } from './place.ts'
import type { TransferSession } from './session.ts'
import type { TransferReport, Transfer } from './transfers.ts'

/** One object, or with `recursive` everything below a prefix into a folder. */
export async function downloads(
  session: TransferSession,
  plan: { readonly from: ObjectPlace; readonly path: string; readonly recursive: boolean },
): Promise<Transfer[]> {
  const { from, path, recursive } = plan
  if (recursive) return await folderDownloads(session, from, path)
  const found = await stat(path).catch(() => undefined)
  const isFolder = path.endsWith('/') || found?.isDirectory() === true
  if (found !== undefined && !isFolder && !found.isFile())
    throw new CommandError(`Not a file: ${path}`, EXIT.usage, `cp ${placeText(from)} - > ${path}`)
  const target = isFolder ? pathIn(path, basename(from.key)) : path
  return [fileDownload(session, { from, target, bytes: undefined })]
}

async function folderDownloads(
  session: TransferSession,
  from: ObjectPlace,
  folder: string,
): Promise<Transfer[]> {
  const prefix = folderOf(from.key)
  const objects = await objectsBelow(session, { ...from, key: prefix })
  return objects.flatMap(({ key, size }) => {
    // Consoles make 'photos/', an empty object, to show a folder.
    if (key.endsWith('/') && size === 0) return []
    const target = pathIn(folder, key.slice(prefix.length))
    return [fileDownload(session, { from: { ...from, key }, target, bytes: size })]
  })
}

type FileDownload = {
  readonly from: ObjectPlace
  readonly target: string
  readonly bytes: number | undefined
}

const fileDownload = (
  session: TransferSession,
  { from, target, bytes }: FileDownload,
): Transfer => ({
  bytes,
  run: async (report) => {
    const folder = dirname(target)
    await mkdir(folder, { recursive: true })
    const temporary = join(folder, `.ergon-${randomUUID()}.part`)
    try {
      await fetchInto(session, from, {
        make: async () => (await open(temporary, 'wx')).createWriteStream(),
        report,
        isPlanned: bytes !== undefined,
      })
      await rename(temporary, target)
    } finally {
      await rm(temporary, { force: true })
    }
  },
})

/** One object to the standard output. */
export const outputDownload = (session: TransferSession, from: ObjectPlace): Transfer => ({
  bytes: undefined,
  run: (report) =>
    fetchInto(session, from, { make: () => process.stdout, report, isPlanned: false }),
})

type Output = {
  readonly make: () => Writable | Promise<Writable>
  readonly report: TransferReport
  /** True when the plan already counted the bytes. */
  readonly isPlanned: boolean
}

/** Streams an object; the output is opened when the answer has come. */
async function fetchInto(
  { s3, signal }: TransferSession,
  { bucket, key }: ObjectPlace,
  output: Output,
): Promise<void> {
  const asked = new GetObjectCommand({ Bucket: bucket, Key: key })
  const { Body, ContentLength } = await s3.send(asked, { abortSignal: signal })
  if (!(Body instanceof Readable)) throw new TypeError('the client gave no stream')
  if (!output.isPlanned) output.report.expected(ContentLength ?? 0)
  let bytes = 0
  const counter = new Transform({
    transform: (chunk: Buffer, _encoding, pass) => {
      bytes += chunk.length
      output.report.moved(chunk.length)
      pass(null, chunk)
    },
  })
  const target = await output.make()
  await pipeline(Body, counter, target, { signal, end: target !== process.stdout })
  if (ContentLength !== undefined && bytes !== ContentLength)
    throw new CommandError(
      `The answer ended after ${bytes} of ${ContentLength} bytes: ${placeText({ bucket, key })}`,
      EXIT.failed,
      'try again',
    )
}
