// A part copied from a range of an object. The bytes are copied: a part is a blob of its own.
import type { BlobReader } from '#objects/blob-reader.ts'
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Objects, Uploads } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { present } from '#base/errors.ts'
import { PART_ALGORITHM } from '#s3/checksums/algorithms.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { findOpenUpload, uploadNameOf } from './begun-upload.ts'
import type { StorageHandler } from '#s3/call.ts'
import { commitBody } from '#s3/body/commit-body.ts'
import { checkCopySource, parsePreconditions } from '#s3/objects/conditions.ts'
import { parseCopySource } from '#s3/objects/copy-source.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { copiedXml, parsePartNumber } from './multipart-xml.ts'
import { parseCopyRange } from '#s3/objects/range.ts'
import { checksumOfVersion } from '#s3/objects/version-headers.ts'
import { xmlReply } from '#s3/reply.ts'
import { UPLOAD_BYTES_MAX } from '#s3/body/plan.ts'
import { checksumOf } from './upload-checksum.ts'

/** UploadPartCopy. Throws NoSuchUpload, NoSuchKey, AccessDenied, InvalidRange, PreconditionFailed. */
export const createUploadPartCopy =
  (deps: {
    access: Access
    objects: Objects
    uploads: Uploads
    receiver: Receiver
    admitTransfer: AdmitTransfer
    encrypting: Encrypting
    blobs: BlobReader
  }): StorageHandler =>
  async (request) => {
    const { access, objects, uploads, receiver, blobs, admitTransfer, encrypting } = deps
    const { headers } = request.body
    const number = parsePartNumber(request.body.target.query.get('partNumber'))
    const { bucket, upload } = await findOpenUpload({ access, uploads }, request)
    const name = uploadNameOf(request)
    const wanted = checksumOf(upload)
    const sealing = encrypting.ofUpload(request, upload.attributes.encryption)
    const source = await access.source(
      request,
      parseCopySource(String(headers['x-amz-copy-source'])),
    )
    checkCopySource(parsePreconditions(headers, 'x-amz-copy-source-'), {
      etag: source.version.etag,
      modifiedMs: source.version.modifiedAtMs,
    })
    const asked = headers['x-amz-copy-source-range']
    const range =
      asked === undefined ? undefined : parseCopyRange(String(asked), source.version.size)
    const length = range === undefined ? source.version.size : range.end - range.start + 1
    if (length > UPLOAD_BYTES_MAX) throw storageFault('EntityTooLarge')
    await admitTransfer(request, bucket, length)
    const { signal } = request
    const bytes = blobs.read(source, {
      signal,
      ...encrypting.reading(request, source.version, 'copy-source'),
      ...(range === undefined ? {} : { range: { first: range.start, last: range.end } }),
    })
    const taken = await receiver.take(bytes, {
      length,
      bodyKey: encrypting.keyFor(sealing),
      request,
      algorithm: wanted?.algorithm ?? PART_ALGORITHM,
    })
    const [part] = taken.body.kind === 'parts' ? taken.body.parts : []
    const { etag, checksums, size } = taken
    const { blob, encryption } = present(part, 'a part is a blob')
    const copied = { number, size, etag, checksums, encryption, blob }
    const { modifiedAtMs } = await commitBody(objects, taken.body, () =>
      uploads.putPart(bucket, name, copied),
    )
    const known = checksumOfVersion(checksums)
    const checksum = known && { algorithm: known.algorithm, text: known.text }
    return xmlReply(
      copiedXml('CopyPartResult', {
        etag,
        modifiedMs: modifiedAtMs,
        ...(checksum && { checksum }),
      }),
      {
        ...encryptionHeaders(sealing?.encryption),
        ...(source.bucket.versioning === 'off'
          ? {}
          : { 'x-amz-copy-source-version-id': source.version.versionId }),
      },
    )
  }
