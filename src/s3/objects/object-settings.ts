// What may change on a version after it was written: tags, retention, legal hold. A policy may have
// conditions on what a document sets, so it is read before the caller is judged.
import { present } from '#base/errors.ts'
import { storageFault } from '#contract/storage-errors.ts'
import type { Bucket, Retention, Version } from '#objects/types.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import type { StorageDeps } from '#s3/deps.ts'
import {
  lockAsHeaders,
  parseLegalHold,
  parseRetention,
  printLegalHold,
  printRetention,
} from '#s3/lock/object-lock.ts'
import { parseTagging, printTagging } from '#s3/tagging/tagging.ts'
import type { Tags } from '#objects/types.ts'
import { bypassesGovernance } from '#s3/lock/governance.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { versionIdHeader } from './version-headers.ts'

const targetOf = ({ body: { target } }: StorageRequest, version: Version) => ({
  key: present(target.key, 'an object has a key'),
  versionId: version.versionId,
})

/** GetObjectTagging. Throws NoSuchKey, AccessDenied. */
export const createGetObjectTagging =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    return xmlReply(printTagging(version.tags), versionIdHeader(bucket, version.versionId))
  }

/** PutObjectTagging. Throws NoSuchKey, AccessDenied, InvalidTag, MalformedXML. */
export const createPutObjectTagging =
  ({ access, objects, receiver }: StorageDeps): StorageHandler =>
  async (request) => {
    let tags: Tags = {}
    const { bucket, version } = await access.version(request, async () => {
      tags = parseTagging(await receiver.document(request), 'object')
      return { requestTags: tags }
    })
    await objects.amend(bucket, targetOf(request, version), { tags })
    return emptyReply(versionIdHeader(bucket, version.versionId))
  }

/** DeleteObjectTagging. Throws NoSuchKey, AccessDenied. */
export const createDeleteObjectTagging =
  ({ access, objects }: StorageDeps): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    await objects.amend(bucket, targetOf(request, version), { tags: {} })
    return emptyReply(versionIdHeader(bucket, version.versionId), 204)
  }

/** GetObjectRetention. Throws NoSuchKey, NoSuchObjectLockConfiguration, InvalidRequest. */
export const createGetObjectRetention =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    checkLockable(bucket)
    if (version.retention === null) throw storageFault('NoSuchObjectLockConfiguration')
    return xmlReply(printRetention(version.retention))
  }

/** PutObjectRetention. Throws AccessDenied where it would weaken what holds, InvalidRequest, MalformedXML. */
export const createPutObjectRetention =
  ({ access, objects, receiver, clock }: StorageDeps): StorageHandler =>
  async (request) => {
    let retention: Retention | null = null
    const { bucket, version } = await access.version(request, async () => {
      retention = parseRetention(await receiver.document(request), clock.wallMs())
      return { headers: lockAsHeaders(retention) }
    })
    checkLockable(bucket)
    const headers = lockAsHeaders(retention)
    const bypassGovernance = bypassesGovernance(access, request, bucket, { headers })
    await objects.amend(bucket, targetOf(request, version), { retention, bypassGovernance })
    return emptyReply(versionIdHeader(bucket, version.versionId))
  }

/** GetObjectLegalHold. Throws NoSuchKey, NoSuchObjectLockConfiguration (never set), InvalidRequest. */
export const createGetObjectLegalHold =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    checkLockable(bucket)
    if (version.legalHold === null) throw storageFault('NoSuchObjectLockConfiguration')
    return xmlReply(printLegalHold(version.legalHold))
  }

/** PutObjectLegalHold. Throws NoSuchKey, InvalidRequest, MalformedXML. */
export const createPutObjectLegalHold =
  ({ access, objects, receiver }: StorageDeps): StorageHandler =>
  async (request) => {
    let legalHold = false
    const { bucket, version } = await access.version(request, async () => {
      legalHold = parseLegalHold(await receiver.document(request))
      return { headers: lockAsHeaders(null, legalHold) }
    })
    checkLockable(bucket)
    await objects.amend(bucket, targetOf(request, version), { legalHold })
    return emptyReply(versionIdHeader(bucket, version.versionId))
  }

function checkLockable(bucket: Bucket): void {
  if (!bucket.objectLock)
    throw storageFault('InvalidRequest', 'Bucket is missing Object Lock Configuration')
}
