// Annotations: named texts of 1 byte to 1 MiB that belong to a version and are removed with it (AWS, "Annotating your
// objects"). They have the encryption of their object, or SSE-S3 for an object without encryption.
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import { ErgonError, invariant, present } from '#base/errors.ts'
import { isOfBlob } from '#blobs/faults.ts'
import type { Damages } from '#objects/damage.ts'
import { openText, sealText } from '#objects/encryption/sealed-text.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Annotation, Annotations } from '#objects/objects.ts'
import type { Bucket, Version } from '#objects/types.ts'
import type { FoundObject, Access } from '#s3/policy/access.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { encryptionOf, keptEncryption } from '#objects/encryption/encryption.ts'
import { bypassesGovernance } from '#s3/lock/governance.ts'
import { annotationsQuery, writeToken, type AnnotationsQuery } from '#s3/listing/parameters.ts'
import { bareTag } from '#s3/objects/conditions.ts'
import type { ReceivedText, Receiver } from '#s3/body/receive.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { checksumHeaders, checksumOfVersion } from '#s3/objects/version-headers.ts'
import { isoTime, writeXml } from '#s3/xml/write.ts'

const TEXT_BYTES_MAX = 1024 * 1024
const NAME_BYTES_MAX = 512
/** Tries while other writers change the version. */
const TRIES = 3

/**
 * The annotation name in the request. Throws InvalidAnnotationName (missing, a control character, a reserved prefix
 * of AWS), AnnotationNameTooLong.
 */
function nameOf({ body: { target } }: StorageRequest): string {
  const name = target.query.get('annotationName') ?? ''
  if (Buffer.byteLength(name) > NAME_BYTES_MAX) throw storageFault('AnnotationNameTooLong')
  if (name === '' || /^(aws|s3)/i.test(name) || /\p{Cc}/u.test(name))
    throw storageFault('InvalidAnnotationName')
  return name
}

const ifMatchOf = ({ body: { headers } }: StorageRequest): string | undefined => {
  const given = headers['x-amz-object-if-match']
  return given === undefined ? undefined : bareTag(String(given))
}

const targetOf = ({ body: { target } }: StorageRequest, { versionId }: Version) => ({
  key: present(target.key, 'an object has a key'),
  versionId,
})

/** A bucket without versioning has no version ids in its replies. */
const versionHeader = (bucket: Bucket, { versionId }: Version): Record<string, string> =>
  bucket.versioning === 'off' ? {} : { 'x-amz-object-version-id': versionId }

/**
 * PutObjectAnnotation. Throws NoSuchKey, AccessDenied (also when object lock protects the annotation that would be
 * replaced), InvalidAnnotationName, AnnotationNameTooLong, AnnotationLimitExceeded, EntityTooSmall, EntityTooLarge,
 * UnsupportedMediaType, PreconditionFailed, InvalidRequest (SSE-C).
 */
export const createPutObjectAnnotation =
  (deps: {
    access: Access
    annotations: Annotations
    receiver: Receiver
    encrypting: Encrypting
    admitTransfer: AdmitTransfer
  }): StorageHandler =>
  async (request) => {
    const name = nameOf(request)
    const plan = deps.receiver.plan(request, TEXT_BYTES_MAX)
    const found = await deps.access.version(request)
    await deps.admitTransfer(request, found.bucket, plan.length ?? plan.bytesMax)
    const text = await deps.receiver.text(request, plan)
    if (text.bytes.length === 0) throw storageFault('EntityTooSmall')
    if (!isUtf8(text.bytes)) throw storageFault('UnsupportedMediaType')
    const { bucket, version } = await put(deps, request, { name, text, found })
    const { encryption } = deps.encrypting.ofAnnotations(version)
    const xml = writeXml('PutObjectAnnotationOutput', [
      ['Key', version.key],
      ['AnnotationName', name],
    ])
    return xmlReply(xml, {
      etag: `"${text.etag}"`,
      ...checksumHeaders(text.checksums),
      ...encryptionHeaders(encryption),
      ...versionHeader(bucket, version),
    })
  }

/** Encrypts and stores an annotation; returns the version that has it. */
async function put(
  {
    access,
    annotations,
    encrypting,
  }: { access: Access; annotations: Annotations; encrypting: Encrypting },
  request: StorageRequest,
  given: { name: string; text: ReceivedText; found: FoundObject },
): Promise<FoundObject> {
  const { name, text } = given
  let { found } = given
  for (let tries = TRIES; ; tries--) {
    const { bucket, version } = found
    const { root } = encrypting.ofAnnotations(version)
    try {
      await annotations.put(bucket, targetOf(request, version), {
        ...(await sealText(root.key, name, text.bytes)),
        name,
        size: text.bytes.length,
        etag: text.etag,
        checksums: text.checksums,
        encryption: keptEncryption(encryptionOf(version.encryption)),
        sheet: version.annotations,
        key: root.envelope,
        ifMatch: ifMatchOf(request),
        bypassGovernance: bypassesGovernance(access, request, bucket),
      })
      return found
    } catch (error) {
      if (!isConflict(error) || tries === 1) throw error
      found = await access.version(request)
    }
  }
}

const isConflict = (error: unknown) =>
  error instanceof ErgonError && error.code === 'ConditionalRequestConflict'

/** GetObjectAnnotation. Throws NoSuchKey, NoSuchAnnotation, AccessDenied. */
export const createGetObjectAnnotation =
  ({
    access,
    annotations,
    encrypting,
    damages,
  }: {
    access: Access
    annotations: Annotations
    encrypting: Encrypting
    damages: Pick<Damages, 'tellBody'>
  }): StorageHandler =>
  async (request) => {
    const name = nameOf(request)
    const { bucket, version } = await access.version(request)
    const { annotations: sheet } = version
    const kept = sheet === null ? undefined : await annotations.get(sheet, name)
    if (kept === undefined) throw storageFault('NoSuchAnnotation')
    const { encryption, root } = encrypting.ofAnnotations(version)
    const bytes = await openText(root.key, name, kept).catch(async (error: unknown) => {
      if (!isOfBlob(error)) throw error
      const { key, versionId } = version
      const place = { bucket: bucket.id, version: versionId, annotation: name, key }
      await damages.tellBody({ ...place, found: hash('md5', kept.sealed) }).catch(() => undefined)
      throw error
    })
    invariant(bytes.length === kept.size, 'an annotation is as long as it was')
    const wantsSums = request.body.headers['x-amz-checksum-mode'] !== undefined
    return {
      kind: 'known',
      status: 200,
      contentType: 'text/plain; charset=utf-8',
      headers: {
        etag: `"${kept.etag}"`,
        'last-modified': new Date(kept.modifiedAtMs).toUTCString(),
        ...(wantsSums ? checksumHeaders(kept.checksums) : {}),
        ...encryptionHeaders(encryption),
        ...versionHeader(bucket, version),
        'content-security-policy': 'sandbox',
      },
      bytesExpected: bytes.length,
      body: () => bytes,
    }
  }

/** ListObjectAnnotations. Throws NoSuchKey, AccessDenied, InvalidArgument. */
export const createListObjectAnnotations =
  ({ access, annotations }: { access: Access; annotations: Annotations }): StorageHandler =>
  async (request) => {
    const query = annotationsQuery(request.body.target.query)
    const { bucket, version } = await access.version(request)
    const { annotations: sheet } = version
    const page =
      sheet === null
        ? { entries: [], truncated: false }
        : await annotations.list(sheet, { ...query, limit: query.max })
    return xmlReply(listXml({ bucket, version, query, ...page }), versionHeader(bucket, version))
  }

function listXml(found: {
  bucket: Bucket
  version: Version
  query: AnnotationsQuery
  entries: readonly Annotation[]
  truncated: boolean
}): string {
  const { bucket, version, query, entries, truncated } = found
  const last = truncated ? entries.at(-1)?.name : undefined
  return writeXml('ListObjectAnnotationsOutput', [
    ['Bucket', bucket.name],
    ['Key', version.key],
    ['AnnotationPrefix', query.prefix === '' ? undefined : query.prefix],
    ['MaxAnnotationResults', query.max],
    ['AnnotationCount', entries.length],
    ['ContinuationToken', query.continuationToken],
    ['NextContinuationToken', last === undefined ? undefined : writeToken(last)],
    [
      'Annotations',
      entries.map(({ name, size, etag, checksums, modifiedAtMs }) => [
        'AnnotationEntry',
        [
          ['AnnotationName', name],
          ['LastModified', isoTime(modifiedAtMs)],
          ['ETag', `"${etag}"`],
          ['ChecksumAlgorithm', checksumOfVersion(checksums)?.algorithm],
          ['Size', size],
        ],
      ]),
    ],
  ])
}

/**
 * DeleteObjectAnnotation. A missing annotation is 204 too. Throws NoSuchKey, AccessDenied (also by object lock),
 * PreconditionFailed.
 */
export const createDeleteObjectAnnotation =
  ({ access, annotations }: { access: Access; annotations: Annotations }): StorageHandler =>
  async (request) => {
    const name = nameOf(request)
    const { bucket, version } = await access.version(request)
    await annotations.delete(bucket, targetOf(request, version), {
      name,
      ifMatch: ifMatchOf(request),
      bypassGovernance: bypassesGovernance(access, request, bucket),
    })
    return emptyReply(versionHeader(bucket, version), 204)
  }
