// DELETE /bucket.
import type { Buckets } from '#objects/objects.ts'
import type { Access } from '#s3/policy/judge.ts'
import type { StorageHandler } from '#s3/call.ts'
import { emptyReply } from '#s3/reply.ts'

/** DeleteBucket. Throws NoSuchBucket, BucketNotEmpty, AccessDenied. */
export const createDeleteBucket =
  ({ access, buckets }: { access: Access; buckets: Buckets }): StorageHandler =>
  async (request) => {
    await buckets.delete(await access.bucket(request))
    return emptyReply({}, 204)
  }
