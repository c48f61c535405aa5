// The settings of a bucket that are more, or less, than a stored document.
import { storageFault } from '#contract/storage-errors.ts'
import type { Buckets } from '#objects/objects.ts'
import type { Bucket, Json } from '#objects/types.ts'
import { targetOf } from '#s3/logging/deliver.ts'
import { accessBucket, documentOf } from './bucket-view.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import type { StorageDeps } from '#s3/deps.ts'
import { parseObjectLock, printObjectLock } from '#s3/lock/object-lock.ts'
import { isPublicAcl } from '#s3/policy/acl.ts'
import { parseLogging, printLogging } from '#s3/logging/logging.ts'
import { isPublicPolicy } from '#s3/policy/policy-public.ts'
import { printPolicyStatus } from '#s3/policy/public-access.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { fieldsOf, textOf, wordOf } from '#s3/xml/fields.ts'
import { parseXml } from '#s3/xml/read.ts'
import { writeXml } from '#s3/xml/write.ts'

/** GetBucketLocation. The first region of S3 is told by an empty element, as at AWS. */
export const createGetBucketLocation =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const { region } = await access.bucket(request)
    return xmlReply(writeXml('LocationConstraint', region === 'us-east-1' ? '' : region))
  }

/** GetBucketVersioning. */
export const createGetBucketVersioning =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const { versioning } = await access.bucket(request)
    const status = { off: undefined, enabled: 'Enabled', suspended: 'Suspended' }[versioning]
    return xmlReply(writeXml('VersioningConfiguration', [['Status', status]]))
  }

/** PutBucketVersioning. Throws MalformedXML, InvalidBucketState (object lock). MFA delete is not served. */
export const createPutBucketVersioning =
  ({ access, buckets, receiver }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const body = parseXml(await receiver.document(request), 'VersioningConfiguration')
    const { Status, MfaDelete } = fieldsOf(body, { Status: 'one', MfaDelete: 'optional' })
    if (MfaDelete !== undefined && textOf(MfaDelete) === 'Enabled')
      throw storageFault('NotImplemented', 'MFA delete is not implemented')
    const status = wordOf(Status, ['Enabled', 'Suspended'])
    await buckets.setVersioning(bucket, status === 'Enabled' ? 'enabled' : 'suspended')
    return emptyReply()
  }

/** GetObjectLockConfiguration. Throws ObjectLockConfigurationNotFoundError. */
export const createGetObjectLockConfiguration =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    if (!bucket.objectLock) throw storageFault('ObjectLockConfigurationNotFoundError')
    return xmlReply(printObjectLock(documentOf(bucket, 'object-lock') ?? {}))
  }

/** PutObjectLockConfiguration. Throws InvalidBucketState (versioning is not enabled), MalformedXML. */
export const createPutObjectLockConfiguration =
  ({ access, buckets, receiver }: StorageDeps): StorageHandler =>
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

/** GetBucketPolicyStatus: whether the policy, or the ACL, lets the public in. */
export const createGetBucketPolicyStatus =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const { policy, acl, ownership } = accessBucket(await access.bucket(request))
    const isPublic =
      (policy !== undefined && isPublicPolicy(policy)) ||
      (ownership !== 'BucketOwnerEnforced' && isPublicAcl(acl))
    return xmlReply(printPolicyStatus(isPublic))
  }

/** GetBucketRequestPayment: the caller pays for its own requests always; of the bucket, its owner. */
export const createGetBucketRequestPayment =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    return xmlReply(writeXml('RequestPaymentConfiguration', [['Payer', 'BucketOwner']]))
  }

/** PutBucketRequestPayment. Throws NotImplemented for anything but what is so anyway. */
export const createPutBucketRequestPayment =
  ({ access, receiver }: StorageDeps): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    const body = parseXml(await receiver.document(request), 'RequestPaymentConfiguration')
    const { Payer } = fieldsOf(body, { Payer: 'one' })
    if (wordOf(Payer, ['BucketOwner', 'Requester']) === 'Requester')
      throw storageFault('NotImplemented', 'Requester pays is not implemented')
    return emptyReply()
  }

/** GetBucketAccelerateConfiguration: there is none. */
export const createGetBucketAccelerateConfiguration =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    return xmlReply(writeXml('AccelerateConfiguration', ''))
  }

/** PutBucketAccelerateConfiguration: suspending what is not there is done, enabling it is not served. */
export const createPutBucketAccelerateConfiguration =
  ({ access, receiver }: StorageDeps): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    const body = parseXml(await receiver.document(request), 'AccelerateConfiguration')
    const { Status } = fieldsOf(body, { Status: 'one' })
    if (wordOf(Status, ['Enabled', 'Suspended']) === 'Enabled')
      throw storageFault('NotImplemented', 'Transfer acceleration is not implemented')
    return emptyReply()
  }

/** GetBucketAbac: tags of a bucket decide nothing here. */
export const createGetBucketAbac =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    return xmlReply(writeXml('AbacStatus', [['Status', 'Disabled']]))
  }

/** PutBucketAbac: disabling what is not there is done, enabling it is not served. */
export const createPutBucketAbac =
  ({ access, receiver }: StorageDeps): StorageHandler =>
  async (request) => {
    await access.bucket(request)
    const { Status } = fieldsOf(parseXml(await receiver.document(request), 'AbacStatus'), {
      Status: 'one',
    })
    if (wordOf(Status, ['Enabled', 'Disabled']) === 'Enabled')
      throw storageFault('NotImplemented', 'Access by the tags of buckets is not implemented')
    return emptyReply()
  }

/** GetBucketLogging: an empty document where it is off. */
export const createGetBucketLogging =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) =>
    xmlReply(printLogging(documentOf(await access.bucket(request), 'logging')))

/** PutBucketLogging. Throws InvalidTargetBucketForLogging (none, another's, or one that keeps all). */
export const createPutBucketLogging =
  ({ access, buckets, receiver }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const logging = parseLogging(await receiver.document(request))
    if (logging !== undefined) {
      const target = await checkedTarget(buckets, bucket, logging.bucket)
      // Whoever may set this bucket's log may not by that write into another.
      if (
        !access.allows(sayingNothing(request), target, {
          action: 's3:PutObject',
          key: logging.prefix,
        })
      )
        throw storageFault('AccessDenied')
    }
    await buckets.configure(bucket, 'logging', logging ?? null)
    return emptyReply()
  }

/** The request as a log will be written: what its headers say of objects is said of none. */
function sayingNothing(request: StorageRequest): StorageRequest {
  const headers = Object.fromEntries(
    Object.entries(request.body.headers).filter(([name]) => !/^(x-amz-|if-)/.test(name)),
  )
  return { ...request, body: { ...request.body, headers } }
}

async function checkedTarget(buckets: Buckets, source: Bucket, name: string): Promise<Bucket> {
  const details = { TargetBucket: name }
  const target = await targetOf(buckets, source, name)
  // Whose it is, strangers are not told.
  if (target === undefined) throw storageFault('InvalidTargetBucketForLogging', undefined, details)
  if (documentOf(target, 'object-lock')?.defaultRetention !== undefined)
    throw storageFault(
      'InvalidTargetBucketForLogging',
      'A bucket with a default retention takes no logs',
      details,
    )
  return target
}
