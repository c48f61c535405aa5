// HEAD /bucket: whether it is there and may be listed.
import type { StorageHandler } from '#s3/call.ts'
import type { StorageDeps } from '#s3/deps.ts'
import { emptyReply } from '#s3/reply.ts'

/** HeadBucket. Throws NoSuchBucket, AccessDenied. */
export const createHeadBucket =
  ({ access }: StorageDeps): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    return emptyReply({ 'x-amz-bucket-region': bucket.region, 'x-amz-access-point-alias': 'false' })
  }
