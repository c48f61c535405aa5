// The configurations of a bucket with the types of their documents, and the defaults.
import type { Bucket, ConfigurationKind, Tags } from '#objects/types.ts'
import type { AccessBucket } from '#s3/policy/access-rules.ts'
import type { Acl } from '#s3/policy/acl.ts'
import type { Cors } from '#s3/cors/cors.ts'
import type { BucketEncryption } from '#s3/encryption/encryption.ts'
import type { Lifecycle } from '#objects/lifecycle/rules.ts'
import type { Logging } from '#s3/logging/logging.ts'
import type { NotificationDocument } from '#s3/notifications/notification.ts'
import type { ObjectLock } from '#s3/lock/object-lock.ts'
import type { Ownership } from '#s3/policy/ownership.ts'
import type { Policy } from '#s3/policy/policy.ts'
import type { PublicAccessBlock } from '#s3/policy/public-access.ts'
import type { Website } from '#s3/website/website.ts'

/** The types of the kinds; each document was parsed before it was stored. */
type BucketDocuments = {
  acl: Acl
  policy: Policy
  cors: Cors
  lifecycle: Lifecycle
  tagging: Tags
  encryption: BucketEncryption
  'public-access-block': PublicAccessBlock
  'ownership-controls': Ownership
  'object-lock': ObjectLock
  website: Website
  logging: Logging
  notification: NotificationDocument
}

/** One configuration, or undefined when the bucket has none. */
export const documentOf = <K extends keyof BucketDocuments & ConfigurationKind>(
  bucket: Pick<Bucket, 'configurations'>,
  kind: K,
): BucketDocuments[K] | undefined =>
  (bucket.configurations[kind] ?? undefined) as BucketDocuments[K] | undefined

/** An ACL that gives its owner everything and nobody else anything. */
export const privateAcl = (owner: string): Acl => ({
  grants: [{ grantee: { account: owner }, permission: 'FULL_CONTROL' }],
})

export const accessBucket = (bucket: Bucket): AccessBucket => ({
  name: bucket.name,
  owner: bucket.account,
  acl: documentOf(bucket, 'acl') ?? privateAcl(bucket.account),
  policy: documentOf(bucket, 'policy'),
  block: documentOf(bucket, 'public-access-block'),
  ownership: ownershipOf(bucket),
})

/** Without ownership controls ACLs are off, as at AWS since April 2023. */
export const ownershipOf = (bucket: Bucket): Ownership =>
  documentOf(bucket, 'ownership-controls') ?? 'BucketOwnerEnforced'
