// Browser forms that upload (AWS, "POST Object"): the fields before the file, then the file as a stream. Everything
// after the file is ignored, as at AWS.
import { Busboy } from '@fastify/busboy'
import type { IncomingHttpHeaders } from 'node:http'
import { finished, type Readable } from 'node:stream'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { checkKey } from '#s3/target.ts'
import type { LengthRange } from './post-policy.ts'
import { parseTagging, taggingHeader } from '#s3/tagging/tagging.ts'

/** All fields together, names and values (AWS: 20 KB). */
const FIELDS_BYTES_MAX = 20 * 1024
const FIELDS_MAX = 100

export type PostForm = {
  /** Values by name in lower case. */
  readonly fields: ReadonlyMap<string, string>
  readonly file: PostFile
}
export type PostFile = {
  /** The name of the file without folders. Empty when the form names no file. */
  readonly name: string
  readonly contentType: string
  /** Fails with IncompleteBody when the body ends within the file. The caller must read or destroy it. */
  readonly stream: Readable
}

/**
 * Reads a form up to the first byte of its file. Throws MalformedPOSTRequest, InvalidArgument (no file,
 * a field twice), MaxPostPreDataLengthExceededError, IncompleteBody, or the signal's reason. The body is
 * destroyed when it throws, and when the file is.
 */
export async function readPostForm(
  headers: IncomingHttpHeaders,
  body: Readable,
  signal: AbortSignal,
): Promise<PostForm> {
  signal.throwIfAborted()
  const form = Promise.withResolvers<PostForm>()
  const fields = new Map<string, string>()
  const parser = createParser(headers)
  let file: Readable | undefined
  let fieldsBytes = 0
  const fail = (error: unknown) => {
    form.reject(error)
    body.destroy()
    const known = error instanceof Error ? error : storageFault('IncompleteBody')
    file?.destroy(known)
  }
  const onAbort = () => fail(signal.reason)
  parser.on('field', (name, value, _, isCut) => {
    if (file !== undefined) return
    fieldsBytes += Buffer.byteLength(name ?? '') + Buffer.byteLength(value)
    const field = (name ?? '').toLowerCase()
    if (isCut || fieldsBytes > FIELDS_BYTES_MAX || fields.size >= FIELDS_MAX)
      fail(storageFault('MaxPostPreDataLengthExceededError'))
    else if (fields.has(field)) fail(argument(`POST has the field ${field} more than once`))
    else fields.set(field, value)
  })
  parser.on('file', (...[, stream, name, , contentType]) => {
    file = stream
    // The error of a consumer that stops reading must not stop the process.
    stream.on('error', () => undefined)
    // Unread bytes stay for the server, which drains the request. A half-read source would block it until the
    // connection times out.
    stream.once('close', () => {
      signal.removeEventListener('abort', onAbort)
      if (!stream.readableEnded) body.destroy()
    })
    form.resolve({ fields, file: { name: name ?? '', contentType, stream } })
  })
  parser.on('error', () => fail(storageFault('MalformedPOSTRequest')))
  parser.on('finish', () =>
    form.reject(argument('POST requires exactly one file upload per request.')),
  )
  finished(body, { writable: false }, (error) => {
    if (error) fail(storageFault('IncompleteBody'))
  })
  signal.addEventListener('abort', onAbort, { once: true })
  body.pipe(parser)
  return await form.promise
}

function createParser(headers: IncomingHttpHeaders) {
  const contentType = headers['content-type'] ?? ''
  if (!/^multipart\/form-data\b/i.test(contentType) || !/\bboundary=/i.test(contentType))
    throw storageFault('MalformedPOSTRequest')
  return new Busboy({
    headers: { 'content-type': contentType },
    // Some clients give every field a file name; only the field's name counts.
    isPartAFile: (name) => name?.toLowerCase() === 'file',
    limits: {
      files: 1,
      parts: FIELDS_MAX + 2,
      fieldSize: FIELDS_BYTES_MAX,
      headerPairs: 20,
      headerSize: 8 * 1024,
    },
  })
}

const argument = (message: string) =>
  storageFault('InvalidArgument', message, { ArgumentName: 'POST' })

/** The key, `${filename}` filled in. Throws InvalidArgument when there is none, KeyTooLongError. */
export function postedKey({ fields, file }: PostForm): string {
  const key = fields.get('key')
  if (key === undefined || key === '')
    throw argument(
      "Bucket POST must contain a field named 'key'. If it is specified, please check the order of the fields.",
    )
  const filled = key.replaceAll('${filename}', () => file.name)
  checkKey(filled)
  return filled
}

/** Fields that describe the object; all other fields belong to the form or are ignored. */
const OBJECT_FIELDS =
  /^(x-amz-.*|content-(type|encoding|disposition|language)|cache-control|expires)$/
/** Fields that sign the form, and copy sources, which a form cannot have. */
const FORM_FIELDS = /^x-amz-(algorithm|credential|date|signature|security-token|copy-source)$/

/**
 * The fields as headers of a PutObject: `acl` as `x-amz-acl`, the document `tagging` as `x-amz-tagging`. Like headers
 * of node:http they have one character for each byte. Throws MalformedXML, InvalidTag.
 */
export function postedHeaders(fields: ReadonlyMap<string, string>): IncomingHttpHeaders {
  const headers: IncomingHttpHeaders = {}
  for (const [field, value] of fields) {
    const name = field === 'acl' ? 'x-amz-acl' : field
    if (!OBJECT_FIELDS.test(name) || FORM_FIELDS.test(name)) continue
    headers[name] = Buffer.from(value).toString('latin1')
  }
  const tagging = fields.get('tagging')
  if (tagging !== undefined)
    headers['x-amz-tagging'] = taggingHeader(parseTagging(Buffer.from(tagging), 'object'))
  return headers
}

/** The file's bytes, within the limits of the policy. Throws EntityTooLarge, EntityTooSmall. */
export async function* withinLength(
  source: AsyncIterable<Buffer>,
  { min, max }: LengthRange,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0
  for await (const chunk of source) {
    bytes += chunk.length
    if (bytes > max)
      throw storageFault('EntityTooLarge', undefined, { MaxSizeAllowed: max, ProposedSize: bytes })
    yield chunk
  }
  if (bytes < min)
    throw storageFault('EntityTooSmall', undefined, { MinSizeAllowed: min, ProposedSize: bytes })
}
