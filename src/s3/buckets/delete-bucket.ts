// DELETE /bucket.
import { countedWork } from '#charging/counted-work.ts'
import type { Buckets } from '#objects/objects.ts'
import type { Access } from '#s3/policy/access.ts'
import type { StorageHandler } from '#s3/call.ts'
import { emptyReply } from '#s3/reply.ts'

/** DeleteBucket. Throws NoSuchBucket, BucketNotEmpty, AccessDenied. */
export const createDeleteBucket =
  ({ access, buckets }: { access: Access; buckets: Buckets }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    await countedWork(
      request.spend,
      () => buckets.delete(bucket),
      (parts) => parts - 1,
    )
    return emptyReply({}, 204)
  }
