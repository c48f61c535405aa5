// PUT ?uploadId: one part of an upload.
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Objects, Uploads } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { present } from '#base/errors.ts'
import { PART_ALGORITHM } from '#s3/checksums/algorithms.ts'
import { findOpenUpload, uploadNameOf } from './begun-upload.ts'
import type { StorageHandler } from '#s3/call.ts'
import { otherAlgorithm } from './checksum.ts'
import { commitBody } from '#s3/body/commit-body.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { parsePartNumber } from './multipart-xml.ts'
import { emptyReply } from '#s3/reply.ts'
import { checksumHeaders } from '#s3/objects/version-headers.ts'
import { checksumOf } from './upload-checksum.ts'

/** UploadPart. Throws NoSuchUpload, AccessDenied, BadDigest, EntityTooLarge, InvalidArgument. */
export const createUploadPart =
  ({
    access,
    objects,
    uploads,
    receiver,
    admitTransfer,
    encrypting,
  }: {
    access: Access
    objects: Objects
    uploads: Uploads
    receiver: Receiver
    admitTransfer: AdmitTransfer
    encrypting: Encrypting
  }): StorageHandler =>
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
      algorithm: asked?.algorithm ?? PART_ALGORITHM,
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
