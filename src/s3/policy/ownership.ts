// Ownership controls: who owns objects that other accounts write, and whether ACLs apply (AWS, "Controlling ownership
// of objects and disabling ACLs").
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, wordOf } from '#s3/xml/fields.ts'
import { parseXml } from '#s3/xml/read.ts'
import { writeXml } from '#s3/xml/write.ts'
import type { AclDraft } from './acl-drafts.ts'
import { isPrivateAcl, type Acl } from './acl.ts'

const OWNERSHIPS = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'] as const
/** `BucketOwnerEnforced`: ACLs are off. The other two differ in the owner after `bucket-owner-full-control`. */
export type Ownership = (typeof OWNERSHIPS)[number]

/** Reads `OwnershipControls`, which has one rule. Throws MalformedXML. */
export function parseOwnership(body: Buffer): Ownership {
  const { Rule } = xmlFields(parseXml(body, 'OwnershipControls'), { Rule: 'one' })
  return wordOf(xmlFields(Rule, { ObjectOwnership: 'one' }).ObjectOwnership, OWNERSHIPS)
}

/** Reads `x-amz-object-ownership` of CreateBucket. Throws InvalidArgument. */
export function parseOwnershipHeader(value: string): Ownership {
  const ownership = OWNERSHIPS.find((known) => known === value)
  if (ownership === undefined)
    throw storageFault('InvalidArgument', `Invalid x-amz-object-ownership header: ${value}`)
  return ownership
}

export const printOwnership = (ownership: Ownership): string =>
  writeXml('OwnershipControls', [['Rule', [['ObjectOwnership', ownership]]]])

/** Refuses enforcement while the bucket's ACL names other accounts. */
export function checkBucketAcl(ownership: Ownership, acl: Acl, owner: string): void {
  if (ownership === 'BucketOwnerEnforced' && !isPrivateAcl(acl, owner))
    throw storageFault('InvalidBucketAclWithObjectOwnership')
}

/** Refuses an ACL where ACLs are off, unless the ACL changes nothing. Throws AccessControlListNotSupported. */
export function checkAclAllowed(
  ownership: Ownership,
  draft: AclDraft | undefined,
  bucketOwner: string,
): void {
  if (ownership !== 'BucketOwnerEnforced' || draft === undefined) return
  if (!givesBucketOwnerAll(draft, bucketOwner)) throw storageFault('AccessControlListNotSupported')
}

/** True when the ACL gives the bucket's owner everything and names nobody else. */
export function givesBucketOwnerAll(draft: AclDraft, bucketOwner: string): boolean {
  if ('canned' in draft) return draft.canned === 'bucket-owner-full-control'
  return draft.grants.every(
    ({ grantee, permission }) =>
      'account' in grantee && grantee.account === bucketOwner && permission === 'FULL_CONTROL',
  )
}

export type OwnedWrite = {
  readonly ownership: Ownership
  /** The ACL in the request. */
  readonly draft: AclDraft | undefined
  /** Undefined for an anonymous writer: the bucket's owner then owns the object. */
  readonly writer: string | undefined
  readonly bucketOwner: string
}

/** The account that owns a new object. */
export function ownerOfObject({ ownership, draft, writer, bucketOwner }: OwnedWrite): string {
  if (writer === undefined || ownership === 'BucketOwnerEnforced') return bucketOwner
  const handsOver = draft !== undefined && 'canned' in draft
  if (ownership === 'BucketOwnerPreferred' && handsOver && givesBucketOwnerAll(draft, bucketOwner))
    return bucketOwner
  return writer
}
