// PUT with x-amz-copy-source. Blobs are immutable, so a copy shares the blobs of its source and moves no byte. The
// copy checks that the blobs exist; damaged bytes are found by the next read.
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Objects, Annotations } from '#objects/objects.ts'
import { ErgonError, present } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { ReadOptions, BlobReader } from '#objects/blob-reader.ts'
import type {
  Attributes,
  ObjectBody,
  Bucket,
  Json,
  JsonObject,
  Sheet,
  Version,
} from '#objects/types.ts'
import type { FoundObject, Access } from '#s3/policy/access.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import type { ChecksumAlgorithm } from '#s3/checksums/algorithms.ts'
import { askedAlgorithm } from '#s3/checksums/request.ts'
import { beforeCommit, commitBody, NO_BODY } from '#s3/body/commit-body.ts'
import { checkEarly, writeConditions } from './write-conditions.ts'
import { checkCopySource, parsePreconditions } from './conditions.ts'
import { parseCopySource, type CopySource } from './copy-source.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import type { Sealing, Encrypting } from '#s3/encryption/encrypting.ts'
import { keptEncryption } from '#objects/encryption/encryption.ts'
import { copiedXml } from '#s3/multipart/multipart-xml.ts'
import { xmlReply } from '#s3/reply.ts'
import { checksumOfVersion, writtenVersionHeader } from './version-headers.ts'
import type { WrittenAttributes, AttributesOf } from './written-attributes.ts'

type CopyDeps = {
  readonly access: Access
  readonly objects: Objects
  readonly attributesOf: AttributesOf
  readonly encrypting: Encrypting
  readonly admitTransfer: AdmitTransfer
  readonly blobs: BlobReader
  readonly receiver: Receiver
  readonly annotations: Annotations
}

/** AWS: larger objects are copied in parts. */
const COPY_BYTES_MAX = 5 * 1024 ** 3

/**
 * CopyObject. Throws NoSuchBucket, NoSuchKey, AccessDenied (for either side), PreconditionFailed,
 * InvalidRequest (onto itself without a change).
 */
export function createCopyObject(deps: CopyDeps): StorageHandler {
  const copy = createCopy(deps)
  return (request) =>
    copy(request).catch((error: unknown) => {
      // The blobs of the source were removed with its last version since the source was found: try once more with the
      // current version.
      if (error instanceof ErgonError && error.code === 'ConditionalRequestConflict')
        return copy(request)
      throw error
    })
}

const createCopy =
  (deps: CopyDeps): StorageHandler =>
  async (request) => {
    const { access, objects, attributesOf, encrypting, admitTransfer } = deps
    const { headers, target } = request.body
    const place = parseCopySource(String(headers['x-amz-copy-source']))
    const bucket = await access.bucket(request)
    // Shared bytes count as stored, and are charged, once more.
    await admitTransfer(request, bucket, 0)
    const key = present(target.key, 'an object has a key')
    const source = await access.source(request, place)
    const { version } = source
    checkCopySource(parsePreconditions(headers, 'x-amz-copy-source-'), {
      etag: version.etag,
      modifiedMs: version.modifiedAtMs,
    })
    if (version.size > COPY_BYTES_MAX)
      throw storageFault(
        'InvalidRequest',
        'The specified copy source is larger than the maximum allowable size for a copy source: 5368709120',
      )
    checkCopiedTags(deps, { request, bucket, place, source })
    const attributes = copiedAttributes(request, await attributesOf(request, bucket), version)
    const algorithm = missingSum(request, version)
    const sealing = encrypting.wanted(request, bucket)
    const isItself =
      source.bucket.id === bucket.id && key === version.key && place.versionId === undefined
    if (isItself && !sealing && !algorithm) refuseAsIs(request)
    const reading = encrypting.reading(request, version, 'copy-source')
    const isShared = !sealing && !reading.cipher && !algorithm
    if (isShared) await deps.blobs.check(source, request.signal)
    const copy: Copied = isShared
      ? { body: source.body, encryption: null, partCount: version.partCount }
      : await rewritten(deps, { request, bucket, source, sealing, reading, algorithm })
    // A shared body belongs to its source.
    const own: ObjectBody = isShared ? NO_BODY : copy.body
    const checksums = (algorithm && copy.checksums) ?? version.checksums
    const annotations = await beforeCommit(objects, own, () =>
      copiedAnnotations(deps, { request, bucket, place, source, sealing }),
    )
    const object = {
      ...(annotations && { annotations }),
      attributes: { ...attributes, checksums, encryption: copy.encryption },
      body: copy.body,
      share: isShared,
      partCount: copy.partCount,
      event: 'ObjectCreated:Copy',
      ...writeConditions(headers),
    } as const
    const written = await commitBody(objects, own, () => objects.put(bucket, key, object))
    const checksum = checksumOfVersion(checksums)
    const facts = { etag: attributes.etag, modifiedMs: written.modifiedAtMs }
    return xmlReply(copiedXml('CopyObjectResult', { ...facts, ...(checksum && { checksum }) }), {
      ...writtenVersionHeader(bucket, written.versionId),
      ...encryptionHeaders(sealing?.encryption),
      ...(source.bucket.versioning === 'off'
        ? {}
        : { 'x-amz-copy-source-version-id': version.versionId }),
    })
  }

/** Refuses a copy onto itself that changes nothing. Throws InvalidRequest. */
function refuseAsIs(request: StorageRequest): void {
  const isAsIs =
    directive(request, 'x-amz-metadata-directive') === 'COPY' &&
    request.body.headers['x-amz-storage-class'] === undefined &&
    request.body.headers['x-amz-website-redirect-location'] === undefined
  if (isAsIs)
    throw storageFault(
      'InvalidRequest',
      "This copy request is illegal because it is trying to copy an object to itself without changing the object's metadata, storage class, website redirect location or encryption attributes.",
    )
}

/**
 * Copies of tags need the permission to read them at the source and to write them here, judged as if the request
 * named the tags. Throws AccessDenied.
 */
function checkCopiedTags(
  { access }: { access: Access },
  copy: { request: StorageRequest; bucket: Bucket; place: CopySource; source: FoundObject },
): void {
  const { request, bucket, place, source } = copy
  const { version } = source
  const isReplaced = directive(request, 'x-amz-tagging-directive') === 'REPLACE'
  if (isReplaced || Object.keys(version.tags).length === 0) return
  const { versionId } = place
  const key = present(request.body.target.key, 'an object has a key')
  const mayRead = access.allows(request, source.bucket, {
    action: versionId === undefined ? 's3:GetObjectTagging' : 's3:GetObjectVersionTagging',
    key: place.key,
    versionId,
    version,
  })
  const mayWrite = ['s3:PutObject', 's3:PutObjectTagging'].every((action) =>
    access.allows(request, bucket, { action, key, requestTags: version.tags }),
  )
  if (!mayRead || !mayWrite) throw storageFault('AccessDenied')
}

/** The checksum algorithm that the copy asks for and its source does not have. Throws InvalidRequest. */
function missingSum(
  { body: { headers } }: StorageRequest,
  { checksums }: Version,
): ChecksumAlgorithm | undefined {
  const algorithm = askedAlgorithm(headers)
  const known = checksumOfVersion(checksums)
  const isThere = known?.algorithm === algorithm && known?.type === 'FULL_OBJECT'
  return isThere ? undefined : algorithm
}

/** Rewrites the bytes of the source with another key, or none, and sums them. */
async function rewritten(
  {
    objects,
    receiver,
    blobs,
    encrypting,
    admitTransfer,
  }: {
    objects: Objects
    receiver: Receiver
    blobs: BlobReader
    encrypting: Encrypting
    admitTransfer: AdmitTransfer
  },
  work: {
    request: StorageRequest
    bucket: Bucket
    source: FoundObject
    sealing: Sealing | undefined
    reading: Pick<ReadOptions, 'cipher'>
    algorithm: ChecksumAlgorithm | undefined
  },
): Promise<Copied> {
  const { request, bucket, source, sealing, reading, algorithm } = work
  const { size } = source.version
  const { signal } = request
  await admitTransfer(request, bucket, size)
  await checkEarly(objects, bucket, request.body)
  const bodyKey = encrypting.keyFor(sealing)
  const bytes = blobs.read(source, { signal, ...reading })
  const { body, checksums } = await receiver.take(bytes, {
    length: size,
    bodyKey,
    isWhole: true,
    request,
    ...(algorithm && { algorithm }),
  })
  const envelope = body.kind === 'inline' ? bodyKey?.envelope : undefined
  return {
    body,
    encryption: keptEncryption(sealing?.encryption, envelope),
    partCount: 0,
    checksums,
  }
}

type Copied = {
  readonly body: ObjectBody
  readonly encryption: Json
  readonly partCount: number
  /** Only of rewritten bytes. */
  readonly checksums?: JsonObject
}

/**
 * Copies the annotations of the source into a new sheet; undefined when there are none or the caller asks for
 * EXCLUDE. Throws AccessDenied, InvalidRequest (to SSE-C), ConditionalRequestConflict (they changed meanwhile).
 */
async function copiedAnnotations(
  {
    access,
    annotations,
    encrypting,
    admitTransfer,
  }: {
    access: Access
    annotations: Annotations
    encrypting: Encrypting
    admitTransfer: AdmitTransfer
  },
  work: {
    request: StorageRequest
    bucket: Bucket
    place: CopySource
    source: FoundObject
    sealing: Sealing | undefined
  },
): Promise<Sheet | undefined> {
  const { request, bucket, place, source, sealing } = work
  const sheet = source.version.annotations
  if (!copiesAnnotations(request) || sheet === null || sheet.count === 0) return undefined
  const key = present(request.body.target.key, 'an object has a key')
  const mayRead = access.allows(request, source.bucket, {
    action: 's3:GetObjectAnnotation',
    key: place.key,
    versionId: place.versionId,
    version: source.version,
  })
  const mayWrite = access.allows(request, bucket, { action: 's3:PutObjectAnnotation', key })
  if (!mayRead || !mayWrite) throw storageFault('AccessDenied')
  await admitTransfer(request, bucket, sheet.bytes)
  const root = encrypting.rootForCopy(source.version, sheet, sealing)
  const copied = await annotations.copy(sheet, root, request.signal)
  const now = (await access.source(request, place)).version.annotations
  if (now?.changed !== sheet.changed) throw storageFault('ConditionalRequestConflict')
  return copied
}

const DIRECTIVE = 'x-amz-object-annotation-directive'

/** Throws InvalidArgument. */
function copiesAnnotations({ body: { headers } }: StorageRequest): boolean {
  const text = headers[DIRECTIVE] ?? 'COPY'
  if (text === 'COPY' || text === 'EXCLUDE') return text === 'COPY'
  throw storageFault('InvalidArgument', 'Unknown annotation directive.', {
    ArgumentName: DIRECTIVE,
    ArgumentValue: String(text).slice(0, 100),
  })
}

type Directive = 'COPY' | 'REPLACE'

function directive({ body: { headers } }: StorageRequest, name: string): Directive {
  const text = headers[name] ?? 'COPY'
  if (text === 'COPY' || text === 'REPLACE') return text
  throw storageFault('InvalidArgument', 'Unknown metadata directive.', {
    ArgumentName: name,
    ArgumentValue: String(text).slice(0, 100),
  })
}

/**
 * The source's attributes, or those of the request with REPLACE. Size and checksums stay. A redirect is always the
 * request's, because a policy may deny it (AWS, "CopyObject").
 */
function copiedAttributes(
  request: StorageRequest,
  own: WrittenAttributes,
  source: Version,
): Attributes {
  const isReplaced = directive(request, 'x-amz-metadata-directive') === 'REPLACE'
  const areTagsReplaced = directive(request, 'x-amz-tagging-directive') === 'REPLACE'
  const { websiteRedirect: _, ...kept } = source.headers
  const { websiteRedirect: redirect } = own.headers
  return {
    ...own,
    headers: isReplaced ? own.headers : { ...kept, ...(redirect && { websiteRedirect: redirect }) },
    metadata: isReplaced ? own.metadata : source.metadata,
    tags: areTagsReplaced ? own.tags : source.tags,
    etag: source.etag,
    size: source.size,
    checksums: source.checksums,
  }
}
