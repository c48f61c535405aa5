// PUT of an object: received, made durable, committed in one transaction, then answered.
import type { Encrypting } from '#s3/encryption/encrypting.ts'
import type { AttributesOf } from './written-attributes.ts'
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Objects } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { present } from '#base/errors.ts'
import type { StorageHandler } from '#s3/call.ts'
import { commitBody } from '#s3/body/commit-body.ts'
import { checkEarly, writeConditions } from './write-conditions.ts'
import { encryptionHeaders } from '#s3/encryption/encryption.ts'
import { keptEncryption } from '#objects/encryption/encryption.ts'
import { emptyReply } from '#s3/reply.ts'
import { checksumHeaders, expiryHeader, writtenVersionHeader } from './version-headers.ts'

/**
 * PutObject. Throws NoSuchBucket, AccessDenied, MissingContentLength, EntityTooLarge, IncompleteBody,
 * BadDigest, PreconditionFailed, InsufficientStorage.
 */
export const createPutObject =
  ({
    access,
    objects,
    receiver,
    admitTransfer,
    attributesOf,
    encrypting,
  }: {
    access: Access
    objects: Objects
    receiver: Receiver
    admitTransfer: AdmitTransfer
    attributesOf: AttributesOf
    encrypting: Encrypting
  }): StorageHandler =>
  async (request) => {
    const { headers, target } = request.body
    const key = present(target.key, 'an object has a key')
    const plan = receiver.plan(request)
    const bucket = await access.bucket(request)
    const attributes = await attributesOf(request, bucket)
    const sealing = encrypting.wanted(request, bucket)
    const bodyKey = encrypting.keyFor(sealing)
    await admitTransfer(request, bucket, plan.length ?? plan.bytesMax)
    await checkEarly(objects, bucket, request.body)
    const { size, etag, checksums, body } = await receiver.receive(request, plan, { bodyKey })
    const object = {
      attributes: {
        ...attributes,
        size,
        etag,
        checksums,
        encryption: keptEncryption(
          sealing?.encryption,
          body.kind === 'inline' ? bodyKey?.envelope : undefined,
        ),
      },
      body,
      ...writeConditions(headers),
    }
    const written = await commitBody(objects, body, () => objects.put(bucket, key, object))
    return emptyReply({
      etag: `"${etag}"`,
      ...checksumHeaders(checksums),
      ...encryptionHeaders(sealing?.encryption),
      ...expiryHeader(bucket, {
        key,
        size,
        tags: attributes.tags,
        modifiedAtMs: written.modifiedAtMs,
      }),
      ...writtenVersionHeader(bucket, written.versionId),
    })
  }
