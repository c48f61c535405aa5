// DELETE /bucket.
import type { StorageHandler } from '#s3/call.ts'
import type { StorageDeps } from '#s3/deps.ts'
import { emptyReply } from '#s3/reply.ts'

/** DeleteBucket. Throws NoSuchBucket, BucketNotEmpty, AccessDenied. */
export const createDeleteBucket =
  ({ access, buckets }: StorageDeps): StorageHandler =>
  async (request) => {
    await buckets.delete(await access.bucket(request))
    return emptyReply({}, 204)
  }
