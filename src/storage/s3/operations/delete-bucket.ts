// DELETE /bucket.
import type { StorageHandler } from '#storage/s3/call.ts'
import type { StorageDeps } from '#storage/s3/deps.ts'
import { emptyReply } from '#storage/s3/reply.ts'

/** DeleteBucket. Throws NoSuchBucket, BucketNotEmpty, AccessDenied. */
export const createDeleteBucket =
  ({ access, buckets }: StorageDeps): StorageHandler =>
  async (request) => {
    await buckets.delete(await access.bucket(request))
    return emptyReply({}, 204)
  }
