// The public access block of a bucket (AWS, "Blocking public access to your Amazon S3 storage"). IgnorePublicAcls and
// RestrictPublicBuckets are applied when access is decided.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlBoolean, xmlFields } from '#s3/xml/fields.ts'
import { parseXml, type XmlElement } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'
import { isPublicAcl, type Acl } from './acl.ts'
import { isPublicPolicy } from './policy-public.ts'
import type { Policy } from './policy.ts'

export type PublicAccessBlock = {
  /** Puts of ACLs that are public are refused. */
  readonly blockPublicAcls: boolean
  /** Grants to the public are ignored. */
  readonly ignorePublicAcls: boolean
  /** Puts of policies that are public are refused. */
  readonly blockPublicPolicy: boolean
  /** While its policy is public, only the owner's account and services use the bucket. */
  readonly restrictPublicBuckets: boolean
}

const MEMBERS: readonly [element: string, member: keyof PublicAccessBlock][] = [
  ['BlockPublicAcls', 'blockPublicAcls'],
  ['IgnorePublicAcls', 'ignorePublicAcls'],
  ['BlockPublicPolicy', 'blockPublicPolicy'],
  ['RestrictPublicBuckets', 'restrictPublicBuckets'],
]

/** Reads a `PublicAccessBlockConfiguration`; absent elements are false. Throws MalformedXML. */
export function parsePublicAccessBlock(body: Buffer): PublicAccessBlock {
  const found = xmlFields(parseXml(body, 'PublicAccessBlockConfiguration'), {
    BlockPublicAcls: 'optional',
    IgnorePublicAcls: 'optional',
    BlockPublicPolicy: 'optional',
    RestrictPublicBuckets: 'optional',
  })
  const read = (element: XmlElement | undefined) => element !== undefined && xmlBoolean(element)
  return {
    blockPublicAcls: read(found.BlockPublicAcls),
    ignorePublicAcls: read(found.IgnorePublicAcls),
    blockPublicPolicy: read(found.BlockPublicPolicy),
    restrictPublicBuckets: read(found.RestrictPublicBuckets),
  }
}

export const printPublicAccessBlock = (block: PublicAccessBlock): string =>
  writeXml(
    'PublicAccessBlockConfiguration',
    MEMBERS.map(([element, member]): XmlNode => [element, block[member]]),
  )

/** Refuses a public ACL where public ACLs are blocked. Throws AccessDenied. */
export function checkAclBlocked(block: PublicAccessBlock | undefined, acl: Acl): void {
  if (block?.blockPublicAcls === true && isPublicAcl(acl)) throw storageFault('AccessDenied')
}

/** Refuses a public policy where public policies are blocked. Throws AccessDenied. */
export function checkPolicyBlocked(block: PublicAccessBlock | undefined, policy: Policy): void {
  if (block?.blockPublicPolicy === true && isPublicPolicy(policy))
    throw storageFault('AccessDenied')
}

/** The reply of GetBucketPolicyStatus. */
export const printPolicyStatus = (isPublic: boolean): string =>
  writeXml('PolicyStatus', [['IsPublic', isPublic]])
