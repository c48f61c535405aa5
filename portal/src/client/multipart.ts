// An upload in parts by the S3 protocol. A part that fails is sent again; those that have arrived are not.
import { begunUploads, markOf, type BegunUpload } from './begun-uploads.ts'
import { pause } from './pause.ts'
import { isProblem } from './problem.ts'
import { abortParts, beginParts, completeParts, listParts, type Part } from './s3-parts.ts'
import { pathOf, type Place } from './s3.ts'
import { sendBody, typeOf, type UploadOptions } from './send-body.ts'

const PART_BYTES = 8 * 2 ** 20
/** The most parts that S3 permits. */
const PARTS_MAX = 10_000
/** Waits before a part is sent again. */
const RETRY_MS = [500, 2_000, 8_000]

/** The bytes of each part but the last. */
export const partBytes = (fileBytes: number): number =>
  Math.max(PART_BYTES, Math.ceil(fileBytes / PARTS_MAX))

/** Sends the parts of a file that have not arrived, and completes it. Another stop than `signal` can go on later. */
export async function uploadInParts(
  place: Place,
  file: File,
  options: UploadOptions,
): Promise<void> {
  const { replaces, signal, onProgress } = options
  const { begun, arrived } = await begin(place, file, signal)
  const size = partBytes(file.size)
  const parts: Part[] = []
  for (let start = 0; start < file.size; start += size) {
    const number = parts.length + 1
    const body = file.slice(start, start + size)
    const known = arrived.find((part) => part.number === number && part.bytes === body.size)
    const progress = (sent: number) => onProgress(start + Math.min(sent, body.size))
    const etag = known?.etag ?? (await sendPart({ begun, number, body, signal, progress }))
    progress(body.size)
    parts.push({ number, etag, bytes: body.size })
  }
  await completeParts(begun, { parts, replaces }, signal)
  begunUploads.forget(place)
}

/** Ends an upload that was begun: its parts are removed. One that is over already counts as ended. */
export async function discard(begun: BegunUpload): Promise<void> {
  await abortParts(begun).catch((error: unknown) => {
    if (!isProblem(error, 'NoSuchUpload', 'NoSuchBucket')) throw error
  })
  begunUploads.forget(begun)
}

/** Ends the upload that was begun here, where there is one. Its file may have changed or be gone since. */
export async function discardOf(place: Place): Promise<void> {
  const begun = begunUploads.at(place)
  if (begun !== undefined) await discard(begun)
}

type Begun = { readonly begun: BegunUpload; readonly arrived: readonly Part[] }

/** Goes on with what this browser began for the file, or begins anew. Parts of another file of the name are removed. */
async function begin(place: Place, file: File, signal: AbortSignal): Promise<Begun> {
  const mark = await markOf(file)
  const old = begunUploads.find(place, mark)
  if (old !== undefined)
    try {
      return { begun: old, arrived: await listParts(old, signal) }
    } catch (error) {
      if (!isProblem(error, 'NoSuchUpload')) throw error
    }
  const other = begunUploads.at(place)
  if (other !== undefined && other.uploadId !== old?.uploadId) await discard(other)
  const uploadId = await beginParts(place, typeOf(file), signal)
  const begun = { ...place, ...mark, uploadId }
  begunUploads.keep(begun)
  return { begun, arrived: [] }
}

async function sendPart(part: {
  readonly begun: BegunUpload
  readonly number: number
  readonly body: Blob
  readonly signal: AbortSignal
  readonly progress: (sent: number) => void
}): Promise<string> {
  const { begun, number, body, signal, progress } = part
  const query = new URLSearchParams({ partNumber: String(number), uploadId: begun.uploadId })
  const path = `${pathOf(begun)}?${query.toString()}`
  for (const waitMs of [...RETRY_MS, undefined])
    try {
      return await sendBody(path, body, { headers: {}, signal, onProgress: progress })
    } catch (error) {
      if (waitMs === undefined || !isPassing(error)) throw error
      progress(0)
      // A try after the end of the signal fails by it.
      await pause(waitMs, signal)
    }
  throw new TypeError('Unreachable: the last try returns or throws')
}

/** True when the same request may go through later. */
const isPassing = (error: unknown): boolean =>
  isProblem(error) && (error.status === 0 || error.status === 429 || error.status >= 500)
