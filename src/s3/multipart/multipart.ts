// Multipart uploads: begun, filled part by part, completed or aborted. Completing copies nothing: the
// object is the list of its parts.
import { present } from '#base/errors.ts'
import type { Bucket, Upload, UploadPart } from '#objects/types.ts'
import { findOpenUpload, findUpload, saidAtBeginning, uploadNameOf } from './begun-upload.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { CHECKSUMS, isAlgorithm, type Hashers } from '#s3/checksums/algorithms.ts'
import { isCombinable } from '#s3/checksums/combine.ts'
import {
  checkAlgorithm,
  checkComposite,
  checkCompletion,
  checkMultipartChecksum,
  checkPartChecksum,
  multipartChecksumText,
  multipartETag,
  otherAlgorithm,
} from './checksum.ts'
import { multipartChecksum, type MultipartChecksum } from '#s3/checksums/request.ts'
import { commitBody } from '#s3/body/commit-body.ts'
import { writeConditions } from '#s3/objects/write-conditions.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { encryptionOf, keptEncryption } from '#objects/encryption/encryption.ts'
import type { StorageDeps } from '#s3/deps.ts'
import {
  completedXml,
  initiatedXml,
  parseComplete,
  parsePartNumber,
  type CompletedPart,
} from './multipart-xml.ts'
import { partsQuery, uploadsQuery } from '#s3/listing/parameters.ts'
import { partsXml, uploadsXml } from '#s3/listing/xml.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { addressOf, originOf } from '#s3/website/origin.ts'
import {
  checksumHeaders,
  checksumOfVersion,
  writtenVersionHeader,
} from '#s3/objects/version-headers.ts'
import { XML_BYTES_MAX } from '#s3/xml/read.ts'

/** CreateMultipartUpload. Throws NoSuchBucket, AccessDenied, InvalidRequest. */
export const createCreateMultipartUpload =
  ({ access, uploads, attributesOf, encrypting }: StorageDeps): StorageHandler =>
  async (request) => {
    const { headers, target } = request.body
    const bucket = await access.bucket(request)
    const asked = multipartChecksum(headers)
    const sealing = encrypting.wanted(request, bucket)
    const upload = await uploads.create(bucket, {
      key: present(target.key, 'an object has a key'),
      initiator: request.who?.account ?? bucket.account,
      isGuest: request.who?.account !== bucket.account,
      attributes: {
        ...(await attributesOf(request, bucket)),
        said: saidAtBeginning(headers),
        checksums: asked ?? {},
        encryption: keptEncryption(sealing?.encryption),
      },
    })
    return xmlReply(initiatedXml({ bucket: bucket.name, key: upload.key, uploadId: upload.id }), {
      ...encryptionHeaders(sealing?.encryption),
      ...(asked && {
        'x-amz-checksum-algorithm': asked.algorithm,
        'x-amz-checksum-type': asked.type,
      }),
    })
  }

/** How the checksum of an upload is made; undefined when whoever began it asked for none. */
export function checksumOf(upload: Upload): MultipartChecksum | undefined {
  const { algorithm, type } = upload.attributes.checksums
  return typeof algorithm === 'string' && isAlgorithm(algorithm)
    ? { algorithm, type: type === 'COMPOSITE' ? 'COMPOSITE' : 'FULL_OBJECT' }
    : undefined
}

/** UploadPart. Throws NoSuchUpload, AccessDenied, BadDigest, EntityTooLarge, InvalidArgument. */
export const createUploadPart =
  ({
    access,
    objects,
    uploads,
    receiver,
    admitTransfer,
    encrypting,
  }: StorageDeps): StorageHandler =>
  async (request) => {
    const number = parsePartNumber(request.body.target.query.get('partNumber'))
    const plan = receiver.plan(request)
    const { bucket, upload } = await findOpenUpload({ access, uploads }, request)
    const name = uploadNameOf(request)
    const asked = checksumOf(upload)
    const sealing = encrypting.ofUpload(request, upload.attributes.encryption)
    if (asked !== undefined && plan.checksum && plan.checksum.algorithm !== asked.algorithm)
      throw otherAlgorithm(asked.algorithm, plan.checksum.algorithm)
    await admitTransfer(request, bucket, plan.length ?? plan.bytesMax)
    const { body, size, etag, checksums } = await receiver.receive(request, plan, {
      isPart: true,
      bodyKey: encrypting.keyFor(sealing),
      ...(asked === undefined ? {} : { algorithm: asked.algorithm }),
    })
    const [part] = body.kind === 'parts' ? body.parts : []
    const { blob, encryption } = present(part, 'a part is a blob')
    const uploaded = { number, size, etag, checksums, encryption, blob }
    await commitBody(objects, body, () => uploads.putPart(bucket, name, uploaded))
    return emptyReply({
      etag: `"${etag}"`,
      ...checksumHeaders(checksums, { ofPart: true }),
      ...encryptionHeaders(sealing?.encryption),
    })
  }

/**
 * CompleteMultipartUpload. Throws NoSuchUpload, InvalidPart, InvalidPartOrder, EntityTooSmall, BadDigest,
 * InvalidArgument, InvalidRequest (another size than it says; of an upload with a client's key: another key, or none; AWS wants it only where the
 * upload has a checksum, Ceph's suite always).
 */
export const createCompleteMultipartUpload =
  ({ access, uploads, receiver, hashers, encrypting, settings }: StorageDeps): StorageHandler =>
  async (request) => {
    const { headers } = request.body
    const { bucket } = await findUpload({ access, uploads }, request)
    // Its checksum headers are of the object, not of this document.
    const body = await receiver.document(request, XML_BYTES_MAX, { isSummed: false })
    const listed = parseComplete(body)
    const name = uploadNameOf(request)
    const completed = await uploads.complete(bucket, name, {
      parts: listed,
      ...writeConditions(headers),
      compose(parts, upload) {
        encrypting.ofUpload(request, upload.attributes.encryption)
        return compose({ parts, upload, listed, request, hashers })
      },
    })
    const checksum = checksumOfVersion(completed.checksums)
    return xmlReply(
      completedXml({
        location: addressOf(request, name.key, originOf(request, settings)),
        bucket: bucket.name,
        key: name.key,
        etag: completed.etag,
        ...(checksum && { checksum }),
      }),
      {
        ...encryptionHeaders(encryptionOf(completed.encryption)),
        ...writtenVersionHeader(bucket, completed.versionId),
      },
    )
  }

/** ETag and checksum of the whole, from those of the parts; what the client says of them must agree. */
async function compose(work: {
  parts: readonly UploadPart[]
  upload: Upload
  listed: readonly CompletedPart[]
  request: StorageRequest
  hashers: Hashers
}) {
  const { parts, upload, listed, request, hashers } = work
  const asked = checksumOf(upload)
  const checksum = asked ?? commonChecksum(parts)
  checkCompletion(request.body.headers, {
    size: parts.reduce((total, { size }) => total + size, 0),
    type: checksum?.type,
  })
  const etag = multipartETag(parts.map((part) => Buffer.from(part.etag, 'hex')))
  for (const [index, part] of parts.entries())
    checkPartChecksum(part, listed[index]?.checksum, checksum?.algorithm)
  if (checksum === undefined) return { etag, checksums: {} }
  const { algorithm } = checksum
  const { headers } = request.body
  if (asked !== undefined) checkAlgorithm(headers, algorithm)
  const sums = parts.map(({ checksums, size }) => ({
    digest: Buffer.from(String(checksums[algorithm]), 'base64'),
    size,
  }))
  const text = await multipartChecksumText(hashers, checksum, sums)
  const given = headers[CHECKSUMS[algorithm].header]
  if (typeof given === 'string') checkMultipartChecksum(algorithm, given, text)
  if (asked !== undefined) checkComposite(asked, listed)
  return { etag, checksums: { [algorithm]: text, type: checksum.type } }
}

/** Where no checksum was asked for: that of the whole, if all parts have one of which it follows. */
function commonChecksum(parts: readonly UploadPart[]): MultipartChecksum | undefined {
  const [algorithm, ...others] = new Set(
    parts.map((part) => checksumOfVersion(part.checksums)?.algorithm),
  )
  if (algorithm === undefined || others.length > 0 || !isCombinable(algorithm)) return undefined
  return { algorithm, type: 'FULL_OBJECT' }
}

/** Finds who began the upload of a request: who may not see it is not told whether there is one. */
const initiatorOf =
  (uploads: StorageDeps['uploads'], request: StorageRequest) => async (bucket: Bucket) =>
    (await uploads.find(bucket, uploadNameOf(request)))?.initiator

/** AbortMultipartUpload. Throws NoSuchUpload, AccessDenied. */
export const createAbortMultipartUpload =
  ({ access, uploads }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request, initiatorOf(uploads, request))
    await uploads.abort(bucket, uploadNameOf(request))
    return emptyReply({}, 204)
  }

/** ListParts. Throws NoSuchUpload, AccessDenied, InvalidArgument. */
export const createListParts =
  ({ access, uploads, ownerOf }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request, initiatorOf(uploads, request))
    const query = partsQuery(request.body.target.query)
    const name = uploadNameOf(request)
    const page = await uploads.parts(bucket, name, { after: query.after, limit: query.max })
    return xmlReply(
      partsXml(
        {
          bucket: bucket.name,
          key: name.key,
          upload: { uploadId: name.uploadId, ...uploadFacts(page.upload, ownerOf) },
          parts: page.parts.map((part) => {
            const checksum = checksumOfVersion(part.checksums)
            return {
              number: part.number,
              modifiedMs: part.modifiedAtMs,
              etag: part.etag,
              bytes: part.size,
              ...(checksum && {
                checksum: { element: `Checksum${checksum.algorithm}`, text: checksum.text },
              }),
            }
          }),
          isTruncated: page.truncated,
        },
        query,
      ),
    )
  }

/** ListMultipartUploads. Throws NoSuchBucket, AccessDenied, InvalidArgument. */
export const createListMultipartUploads =
  ({ access, listings, ownerOf }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const query = uploadsQuery(request.body.target.query)
    const page = await listings.uploads(bucket, {
      prefix: query.prefix,
      delimiter: query.delimiter,
      after: query.keyMarker,
      limit: query.max,
      ...(query.uploadIdMarker === '' ? {} : { afterUpload: query.uploadIdMarker }),
    })
    return xmlReply(
      uploadsXml(
        {
          bucket: bucket.name,
          entries: page.entries.map((upload) => ({
            key: upload.key,
            uploadId: upload.id,
            initiatedMs: upload.initiatedAtMs,
            ...uploadFacts(upload, ownerOf),
          })),
          prefixes: page.commonPrefixes,
          next: page.truncated ? page.last.key : undefined,
          nextUploadId: page.truncated ? page.last.uploadId : undefined,
        },
        query,
      ),
    )
  }

function uploadFacts(upload: Upload, ownerOf: StorageDeps['ownerOf']) {
  const checksum = checksumOf(upload)
  return {
    initiator: ownerOf(upload.initiator),
    owner: ownerOf(upload.attributes.owner),
    storageClass: upload.attributes.storageClass,
    ...(checksum && { checksum }),
  }
}
