// The logging configuration of a bucket.
import type { Receiver } from '#s3/body/receive.ts'
import type { Access } from '#s3/policy/access.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Buckets } from '#objects/objects.ts'
import type { Bucket } from '#objects/types.ts'
import { documentOf } from '#s3/buckets/bucket-view.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { targetOf } from './deliver.ts'
import { parseLogging, printLogging } from './logging.ts'

/** GetBucketLogging: an empty document without a configuration. */
export const createGetBucketLogging =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) =>
    xmlReply(printLogging(documentOf(await access.bucket(request), 'logging')))

/**
 * PutBucketLogging. Throws InvalidTargetBucketForLogging (no such bucket, another account's, or one with a default
 * retention).
 */
export const createPutBucketLogging =
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
    const logging = parseLogging(await receiver.document(request))
    if (logging !== undefined) {
      const target = await checkedTarget(buckets, bucket, logging.bucket)
      // The caller must also be allowed to write into the target bucket.
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

/** The request without headers that concern its own object. */
function sayingNothing(request: StorageRequest): StorageRequest {
  const headers = Object.fromEntries(
    Object.entries(request.body.headers).filter(([name]) => !/^(x-amz-|if-)/.test(name)),
  )
  return { ...request, body: { ...request.body, headers } }
}

async function checkedTarget(buckets: Buckets, source: Bucket, name: string): Promise<Bucket> {
  const details = { TargetBucket: name }
  const target = await targetOf(buckets, source, name)
  // The error is the same for a bucket of another account.
  if (target === undefined) throw storageFault('InvalidTargetBucketForLogging', undefined, details)
  if (documentOf(target, 'object-lock')?.defaultRetention !== undefined)
    throw storageFault(
      'InvalidTargetBucketForLogging',
      'A bucket with a default retention takes no logs',
      details,
    )
  return target
}
