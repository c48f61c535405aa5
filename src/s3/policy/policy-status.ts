// The public status of a bucket, from its policy and its ACL.
import type { Access } from './access.ts'
import { accessBucket } from '#s3/buckets/bucket-view.ts'
import type { StorageHandler } from '#s3/call.ts'
import { xmlReply } from '#s3/reply.ts'
import { isPublicAcl } from './acl.ts'
import { isPublicPolicy } from './policy-public.ts'
import { printPolicyStatus } from './public-access.ts'

/** GetBucketPolicyStatus. Throws NoSuchBucket, AccessDenied. */
export const createGetBucketPolicyStatus =
  ({ access }: { access: Access }): StorageHandler =>
  async (request) => {
    const { policy, acl, ownership } = accessBucket(await access.bucket(request))
    const isPublic =
      (policy !== undefined && isPublicPolicy(policy)) ||
      (ownership !== 'BucketOwnerEnforced' && isPublicAcl(acl))
    return xmlReply(printPolicyStatus(isPublic))
  }
