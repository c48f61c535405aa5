// The policy of a bucket, its block of public access and its ownership controls.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { documentOf, privateAcl } from '#s3/buckets/bucket-view.ts'
import type { Configuration } from '#s3/buckets/configuration.ts'
import { checkBucketAcl, parseOwnership, printOwnership, type Ownership } from './ownership.ts'
import { accountsOf, parsePolicy, type Policy } from './policy.ts'
import {
  checkPolicyBlocked,
  parsePublicAccessBlock,
  printPublicAccessBlock,
  type PublicAccessBlock,
} from './public-access.ts'

export const POLICY: Configuration = {
  kind: 'policy',
  absent: 'NoSuchBucketPolicy',
  parse(body, bucket) {
    const policy = parsePolicy(body.toString('utf8'), bucket.name)
    checkPolicyBlocked(documentOf(bucket, 'public-access-block'), policy)
    return policy
  },
  async check(policy: Policy, directory) {
    for (const account of accountsOf(policy))
      if (!(await directory.exists(account)))
        throw storageFault('MalformedPolicy', 'Invalid principal in policy', { Detail: account })
  },
  print: (value: Policy) => value.text,
  contentType: 'application/json',
  putStatus: 204,
}

export const PUBLIC_ACCESS_BLOCK: Configuration = {
  kind: 'public-access-block',
  absent: 'NoSuchPublicAccessBlockConfiguration',
  parse: parsePublicAccessBlock,
  print: (value: PublicAccessBlock) => printPublicAccessBlock(value),
}

export const OWNERSHIP_CONTROLS: Configuration = {
  kind: 'ownership-controls',
  absent: 'OwnershipControlsNotFoundError',
  parse(body, bucket) {
    const ownership = parseOwnership(body)
    const acl = documentOf(bucket, 'acl') ?? privateAcl(bucket.account)
    checkBucketAcl(ownership, acl, bucket.account)
    return ownership
  },
  print: (value: Ownership) => printOwnership(value),
}
