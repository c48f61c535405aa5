// Changes the key of an encrypted object: its data keys are wrapped by another key; its bytes, ETag and times stay
// (AWS, "Updating server-side encryption for existing objects").
import type { Encrypting } from './encrypting.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Objects } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { ErgonError, present } from '#base/errors.ts'
import { sealsOf } from '#objects/encryption/seals.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { StorageHandler } from '#s3/call.ts'
import { emptyReply } from '#s3/reply.ts'
import { versionIdHeader } from '#s3/objects/version-headers.ts'

/** Tries while other writers change the version. */
const TRIES = 3

/**
 * UpdateObjectEncryption: to SSE-KMS, from SSE-S3 or another named key. Throws NoSuchKey, MalformedXML,
 * InvalidRequest (not encrypted, SSE-C, another type), KMS.NotFoundException, AccessDenied (object lock).
 */
export const createUpdateObjectEncryption =
  ({
    access,
    objects,
    receiver,
    encrypting,
  }: {
    access: Access
    objects: Objects
    receiver: Receiver
    encrypting: Encrypting
  }): StorageHandler =>
  async (request) => {
    let { bucket, version, body } = await access.version(request)
    const document = await receiver.document(request)
    const key = present(request.body.target.key, 'an object has a key')
    for (let tries = TRIES; ; tries--) {
      const before = sealsOf(version, body)
      const after = encrypting.updated(before, document)
      const target = { key, versionId: version.versionId }
      try {
        await objects.reseal(bucket, target, { before, after, despiteLock: false })
        return emptyReply(versionIdHeader(bucket, version.versionId))
      } catch (error) {
        if (isOf(error, 'AccessDenied'))
          throw storageFault('AccessDenied', 'The object is protected by S3 Object Lock.')
        if (!isOf(error, 'ConditionalRequestConflict') || tries === 1) throw error
        ;({ bucket, version, body } = await access.version(request))
      }
    }
  }

const isOf = (error: unknown, code: string) => error instanceof ErgonError && error.code === code
