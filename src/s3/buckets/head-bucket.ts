// HEAD /bucket: whether the bucket exists and may be listed.
import type { Access } from '#s3/policy/access.ts'
import type { StorageHandler } from '#s3/call.ts'
import { emptyReply } from '#s3/reply.ts'

/** HeadBucket. Throws NoSuchBucket, AccessDenied. */
export const createHeadBucket =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    return emptyReply({ 'x-amz-bucket-region': bucket.region, 'x-amz-access-point-alias': 'false' })
  }
