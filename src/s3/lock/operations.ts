// Object lock: the configuration of a bucket, the retention and the legal hold of a version. Policies may have conditions
// on the lock that a document sets, so the document is read before the caller is judged.
import type { Clock } from '#base/clock.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Buckets, Objects } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Bucket, Json, Retention } from '#objects/types.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { StorageHandler } from '#s3/call.ts'
import { versionIdHeader } from '#s3/objects/version-headers.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { bypassesGovernance } from './governance.ts'
import {
  lockAsHeaders,
  parseLegalHold,
  parseObjectLock,
  parseRetention,
  printLegalHold,
  printObjectLock,
  printRetention,
} from './object-lock.ts'

/** GetObjectLockConfiguration. Throws ObjectLockConfigurationNotFoundError. */
export const createGetObjectLockConfiguration =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    if (!bucket.objectLock) throw storageFault('ObjectLockConfigurationNotFoundError')
    return xmlReply(printObjectLock(documentOf(bucket, 'object-lock') ?? {}))
  }

/** PutObjectLockConfiguration. Throws InvalidBucketState (versioning is not enabled), MalformedXML. */
export const createPutObjectLockConfiguration =
  ({
    access,
    buckets,
    receiver,
  }: {
    access: Access
    buckets: Buckets
    receiver: Receiver
  }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const lock = parseObjectLock(await receiver.document(request))
    if (bucket.versioning !== 'enabled')
      throw storageFault(
        'InvalidBucketState',
        "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
      )
    if (!bucket.objectLock) await buckets.enableObjectLock(bucket)
    await buckets.configure(bucket, 'object-lock', lock as unknown as Json)
    return emptyReply()
  }

/** GetObjectRetention. Throws NoSuchKey, NoSuchObjectLockConfiguration, InvalidRequest. */
export const createGetObjectRetention =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    checkLockable(bucket)
    if (version.retention === null) throw storageFault('NoSuchObjectLockConfiguration')
    return xmlReply(printRetention(version.retention))
  }

/** PutObjectRetention. Throws AccessDenied where it would weaken what holds, InvalidRequest, MalformedXML. */
export const createPutObjectRetention =
  ({
    access,
    objects,
    receiver,
    clock,
  }: {
    access: Access
    objects: Objects
    receiver: Receiver
    clock: Clock
  }): StorageHandler =>
  async (request) => {
    let retention: Retention | null = null
    const { bucket, version } = await access.version(request, async () => {
      retention = parseRetention(await receiver.document(request), clock.wallMs())
      return { headers: lockAsHeaders(retention) }
    })
    checkLockable(bucket)
    const headers = lockAsHeaders(retention)
    const bypassGovernance = bypassesGovernance(access, request, bucket, { headers })
    await objects.amend(bucket, version, { retention, bypassGovernance })
    return emptyReply(versionIdHeader(bucket, version.versionId))
  }

/** GetObjectLegalHold. Throws NoSuchKey, NoSuchObjectLockConfiguration (never set), InvalidRequest. */
export const createGetObjectLegalHold =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    checkLockable(bucket)
    if (version.legalHold === null) throw storageFault('NoSuchObjectLockConfiguration')
    return xmlReply(printLegalHold(version.legalHold))
  }

/** PutObjectLegalHold. Throws NoSuchKey, InvalidRequest, MalformedXML. */
export const createPutObjectLegalHold =
  ({
    access,
    objects,
    receiver,
  }: {
    access: Access
    objects: Objects
    receiver: Receiver
  }): StorageHandler =>
  async (request) => {
    let legalHold = false
    const { bucket, version } = await access.version(request, async () => {
      legalHold = parseLegalHold(await receiver.document(request))
      return { headers: lockAsHeaders(null, legalHold) }
    })
    checkLockable(bucket)
    await objects.amend(bucket, version, { legalHold })
    return emptyReply(versionIdHeader(bucket, version.versionId))
  }

function checkLockable(bucket: Bucket): void {
  if (!bucket.objectLock)
    throw storageFault('InvalidRequest', 'Bucket is missing Object Lock Configuration')
}
