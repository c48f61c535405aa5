// Aborts an upload, lists its parts, and lists the open uploads of a bucket.
import { countedWork } from '#charging/counted-work.ts'
import type { OwnerOf } from '#s3/listing/entries.ts'
import type { Uploads, Listings } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import type { Bucket, Upload } from '#objects/types.ts'
import { uploadNameOf } from './begun-upload.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { partsQuery, uploadsQuery } from '#s3/listing/parameters.ts'
import { partsXml, uploadsXml } from '#s3/listing/xml.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { checksumOfVersion } from '#s3/objects/version-headers.ts'
import { checksumOf } from './upload-checksum.ts'

/** Finds the creator of an upload. Callers without access do not learn whether it exists. */
const initiatorOf = (uploads: Uploads, request: StorageRequest) => async (bucket: Bucket) =>
  (await uploads.find(bucket, uploadNameOf(request)))?.initiator

/** AbortMultipartUpload. Throws NoSuchUpload, AccessDenied. */
export const createAbortMultipartUpload =
  ({ access, uploads }: { access: Access; uploads: Uploads }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request, initiatorOf(uploads, request))
    await countedWork(
      request.spend,
      () => uploads.abort(bucket, uploadNameOf(request)),
      (parts) => parts - 1,
    )
    return emptyReply({}, 204)
  }

/** ListParts. Throws NoSuchUpload, AccessDenied, InvalidArgument. */
export const createListParts =
  ({
    access,
    uploads,
    ownerOf,
  }: {
    access: Access
    uploads: Uploads
    ownerOf: OwnerOf
  }): StorageHandler =>
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
  ({
    access,
    listings,
    ownerOf,
  }: {
    access: Access
    listings: Listings
    ownerOf: OwnerOf
  }): StorageHandler =>
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

function uploadFacts(upload: Upload, ownerOf: OwnerOf) {
  const checksum = checksumOf(upload)
  return {
    initiator: ownerOf(upload.initiator),
    owner: ownerOf(upload.attributes.owner),
    storageClass: upload.attributes.storageClass,
    ...(checksum && { checksum }),
  }
}
