// POST ?uploadId: completes an upload. No byte is copied: the object is the list of its parts.
import type { StorageSettings } from '#s3/settings.ts'
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Uploads } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import type { Upload, UploadPart } from '#objects/types.ts'
import { findUpload, uploadNameOf } from './begun-upload.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { CHECKSUMS, type Hashers } from '#s3/checksums/algorithms.ts'
import { isCombinable } from '#s3/checksums/combine.ts'
import {
  checkAlgorithm,
  checkComposite,
  checkCompletion,
  checkMultipartChecksum,
  checkPartChecksum,
  multipartChecksumText,
  multipartETag,
} from './checksum.ts'
import type { MultipartChecksum } from '#s3/checksums/request.ts'
import { writeConditions } from '#s3/objects/write-conditions.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { encryptionOf } from '#objects/encryption/encryption.ts'
import { completedXml, parseComplete, type CompletedPart } from './multipart-xml.ts'
import { xmlReply } from '#s3/reply.ts'
import { objectAddress, requestOrigin } from '#s3/website/origin.ts'
import { checksumOfVersion, writtenVersionHeader } from '#s3/objects/version-headers.ts'
import { XML_BYTES_MAX } from '#s3/xml/read.ts'
import { checksumOf } from './upload-checksum.ts'

/**
 * CompleteMultipartUpload. Throws NoSuchUpload, InvalidPart, InvalidPartOrder, EntityTooSmall, BadDigest,
 * InvalidArgument, InvalidRequest (another size than declared, or a wrong or missing client's key; AWS requires the
 * key only for an upload with a checksum, Ceph's suite always).
 */
export const createCompleteMultipartUpload =
  ({
    access,
    uploads,
    receiver,
    hashers,
    encrypting,
    settings,
  }: {
    access: Access
    uploads: Uploads
    receiver: Receiver
    hashers: Hashers
    encrypting: Encrypting
    settings: StorageSettings
  }): StorageHandler =>
  async (request) => {
    const { headers } = request.body
    const { bucket } = await findUpload({ access, uploads }, request)
    // The checksum headers describe the object, not this document.
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
        location: objectAddress(request, name.key, requestOrigin(request, settings)),
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

/** ETag and checksum of the object, from those of its parts. Values that the client gives must agree. */
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

/**
 * The checksum of the object when none was requested: combined from the parts, if all have the same combinable one.
 */
function commonChecksum(parts: readonly UploadPart[]): MultipartChecksum | undefined {
  const [algorithm, ...others] = new Set(
    parts.map((part) => checksumOfVersion(part.checksums)?.algorithm),
  )
  if (algorithm === undefined || others.length > 0 || !isCombinable(algorithm)) return undefined
  return { algorithm, type: 'FULL_OBJECT' }
}
