// GET and HEAD of an object: whole, a range, or one of its parts.
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { BlobReader } from '#objects/blob-reader.ts'
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import { ErgonError, present } from '#base/errors.ts'
import { Pieces, type Reply } from '#http/reply.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { ObjectBody, Version } from '#objects/types.ts'
import type { Access, FoundObject, AccessRequest } from '#s3/policy/access.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { checkReadHeaders } from '#s3/encryption/encryption.ts'
import { checkRead, honoursRange, parsePreconditions, type Current } from './conditions.ts'
import { overriddenHeaders } from './headers.ts'
import { parsePartNumber } from '#s3/multipart/multipart-xml.ts'
import { contentRange, type RequestedRange } from '#http/byte-range.ts'
import { parseRange } from './range.ts'
import { emptyReply } from '#s3/reply.ts'
import { checksumHeaders, versionHeaders, type Aside } from './version-headers.ts'

/** Bodies up to this size have their final figures in the head of the reply. */
const FIXED_BYTES_MAX = 1_048_576

/**
 * GetObject. Throws NoSuchKey, NoSuchVersion, MethodNotAllowed (a delete marker by its version),
 * InvalidRange, InvalidPartNumber, InvalidRequest (a range of a part), PreconditionFailed, AccessDenied.
 */
export const createGetObject =
  (deps: {
    access: Access
    encrypting: Encrypting
    blobs: BlobReader
    admitTransfer: AdmitTransfer
  }): StorageHandler =>
  async (request) => {
    checkReadHeaders(request.body.headers)
    const found = await deps.access.version(request)
    const answer = answerOf(deps.access, request, found)
    const cipher = deps.encrypting.reading(request, found.version)
    if (answer.status === 304) return notModified(answer.headers)
    const { status, headers, range, length } = answer
    const { signal } = request
    const chunks = deps.blobs.read(found, {
      signal,
      ...cipher,
      ...(range === undefined ? {} : { range: { first: range.start, last: range.end } }),
    })
    if (length > FIXED_BYTES_MAX) {
      await deps.admitTransfer(request, found.bucket, length)
      return streamed({ status, headers, length, chunks })
    }
    // The chunks are not joined: copying each body made the garbage collector run for every 30 MB.
    const list: Buffer[] = []
    for await (const chunk of chunks) list.push(chunk)
    const pieces = new Pieces(list)
    return { kind: 'known', status, ...typed(headers), bytesExpected: length, body: () => pieces }
  }

/** HeadObject: the same without the body. */
export const createHeadObject =
  (deps: { access: Access; encrypting: Encrypting }): StorageHandler =>
  async (request) => {
    checkReadHeaders(request.body.headers)
    const found = await deps.access.version(request)
    // HEAD needs the client's key too.
    deps.encrypting.reading(request, found.version)
    const { status, headers, length } = answerOf(deps.access, request, found)
    if (status === 304) return notModified(headers)
    return { kind: 'known', status, ...typed(headers), contentLength: length, body: () => '' }
  }

type ObjectReply = {
  readonly status: 200 | 206 | 304
  readonly headers: Record<string, string>
  readonly range: RequestedRange | undefined
  readonly length: number
}

function answerOf(
  access: Access,
  request: StorageRequest,
  { bucket, version, body }: FoundObject,
): ObjectReply {
  const { headers: asked, target } = request.body
  const number = target.query.get('partNumber')
  if (number !== undefined && asked.range !== undefined)
    throw storageFault(
      'InvalidRequest',
      'Cannot specify both Range header and partNumber query parameter',
    )
  const current = { etag: version.etag, modifiedMs: version.modifiedAtMs }
  const askedRange = honoursRange(asked, current) ? asked.range : undefined
  const wantsChecksums = String(asked['x-amz-checksum-mode']).toUpperCase() === 'ENABLED'
  const headers = {
    ...versionHeaders(bucket, version, {
      // The checksum of the whole object does not apply to a range.
      withChecksums: wantsChecksums && askedRange === undefined && number === undefined,
      mayRead: (aside) => access.allows(request, bucket, questionAside(target, version, aside)),
    }),
    ...overriddenHeaders(target.query, request.caller === undefined),
  }
  if (!isWanted(request, current)) return { status: 304, headers, range: undefined, length: 0 }
  const part = number === undefined ? undefined : partRange(parsePartNumber(number), version, body)
  const range = part ?? parseRange(askedRange, version.size)
  const status = range === undefined && number === undefined ? 200 : 206
  const isOfParts = number !== undefined && version.partCount > 0
  return {
    status,
    headers: {
      ...headers,
      ...(range === undefined ? {} : { 'content-range': contentRange(range, version.size) }),
      ...(isOfParts ? { 'x-amz-mp-parts-count': String(version.partCount) } : {}),
      ...(isOfParts && wantsChecksums ? partChecksum(Number(number), version, body) : {}),
    },
    range,
    length: range === undefined ? version.size : range.end - range.start + 1,
  }
}

function questionAside(
  { key, query }: StorageRequest['body']['target'],
  version: Version,
  aside: Aside,
): AccessRequest {
  const versionId = query.get('versionId')
  // Policies have an action of its own for the tags of a version, not for its lock.
  const ofVersion = versionId !== undefined && aside === 'Tagging' ? 'Version' : ''
  return {
    action: `s3:GetObject${ofVersion}${aside}`,
    key: present(key, 'an object has a key'),
    versionId,
    version,
  }
}

/** False when the caller's copy is current. Throws PreconditionFailed. */
function isWanted({ body: { headers } }: StorageRequest, current: Current): boolean {
  try {
    checkRead(parsePreconditions(headers), current)
    return true
  } catch (error) {
    if (error instanceof ErgonError && error.code === 'NotModified') return false
    throw error
  }
}

/** The checksum of one part, with the type of the object's checksum. */
function partChecksum(number: number, version: Version, body: ObjectBody): Record<string, string> {
  const part = body.kind === 'parts' ? body.parts.find((one) => one.number === number) : undefined
  const { type } = version.checksums
  if (part === undefined || typeof type !== 'string') return {}
  return checksumHeaders({ ...part.checksums, type })
}

/** The byte range of a part, by its number in the upload; undefined for an empty object. Throws InvalidPartNumber. */
function partRange(number: number, version: Version, body: ObjectBody): RequestedRange | undefined {
  const absent = () =>
    storageFault('InvalidPartNumber', undefined, {
      PartNumberRequested: number,
      ActualPartCount: Math.max(version.partCount, 1),
    })
  if (version.partCount === 0 || body.kind === 'inline') {
    if (number > 1) throw absent()
    return version.size === 0 ? undefined : { start: 0, end: version.size - 1 }
  }
  const index = body.parts.findIndex((one) => one.number === number)
  const part = body.parts[index]
  if (part === undefined) throw absent()
  const start = body.parts.slice(0, index).reduce((sum, { size }) => sum + size, 0)
  return { start, end: start + part.size - 1 }
}

function streamed(found: {
  status: number
  headers: Record<string, string>
  length: number
  chunks: AsyncIterable<Buffer>
}): Reply {
  const { status, length, chunks } = found
  return {
    kind: 'streamed',
    status,
    ...typed(found.headers),
    contentLength: length,
    chunks,
    last: () => '',
    cut: () => '',
  }
}

/** RFC 9110 §15.4.5: the headers of a 304. */
const notModified = (headers: Record<string, string>) =>
  emptyReply(
    Object.fromEntries(Object.entries(headers).filter(([name]) => OF_NOT_MODIFIED.has(name))),
    304,
  )

const OF_NOT_MODIFIED = new Set([
  'etag',
  'last-modified',
  'cache-control',
  'expires',
  'x-amz-version-id',
])

/** A reply has its content type apart from its other headers. */
function typed({ 'content-type': contentType = '', ...headers }: Record<string, string>) {
  return { contentType, headers }
}
