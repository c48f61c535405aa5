// POST ?uploads: begins an upload in parts.
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import type { AttributesOf } from '#s3/objects/written-attributes.ts'
import type { Uploads } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { present } from '#base/errors.ts'
import { saidAtBeginning } from './begun-upload.ts'
import type { StorageHandler } from '#s3/call.ts'
import { multipartChecksum } from '#s3/checksums/request.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { keptEncryption } from '#objects/encryption/encryption.ts'
import { initiatedXml } from './multipart-xml.ts'
import { xmlReply } from '#s3/reply.ts'

/** CreateMultipartUpload. Throws NoSuchBucket, AccessDenied, InvalidRequest. */
export const createCreateMultipartUpload =
  ({
    access,
    uploads,
    attributesOf,
    encrypting,
  }: {
    access: Access
    uploads: Uploads
    attributesOf: AttributesOf
    encrypting: Encrypting
  }): StorageHandler =>
  async (request) => {
    const { headers, target } = request.body
    const bucket = await access.bucket(request)
    const asked = multipartChecksum(headers)
    const sealing = encrypting.wanted(request, bucket)
    const upload = await uploads.create(bucket, {
      key: present(target.key, 'an object has a key'),
      initiator: request.caller?.account ?? bucket.account,
      isGuest: request.caller?.account !== bucket.account,
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
