// The access control lists of buckets and objects.
import type { Buckets, Objects } from '#objects/objects.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { OwnerOf } from '#s3/listing/entries.ts'
import { present } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Bucket, Json } from '#objects/types.ts'
import { aclOf, type Access } from './access.ts'
import { accessBucket, documentOf, ownershipOf, privateAcl } from '#s3/buckets/bucket-view.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import {
  parseAcl,
  parseAclHeaders,
  printAcl,
  resolveAcl,
  type AclDraft,
  type Directory,
} from './acl-drafts.ts'
import type { Acl } from './acl.ts'
import { checkAclAllowed } from './ownership.ts'
import { checkAclBlocked } from './public-access.ts'
import { emptyReply, xmlReply } from '#s3/reply.ts'
import { versionIdHeader } from '#s3/objects/version-headers.ts'

/** GetBucketAcl. Throws NoSuchBucket, AccessDenied. */
export const createGetBucketAcl =
  ({ access, ownerOf }: { access: Access; ownerOf: OwnerOf }): StorageHandler =>
  async (request) => {
    const bucket = await access.bucket(request)
    const { acl } = accessBucket(bucket)
    return xmlReply(
      printAcl(shown(bucket, acl, bucket.account), bucket.account, (id) => ownerOf(id).displayName),
    )
  }

/** While ACLs are off, earlier lists are not shown. */
const shown = (bucket: Bucket, acl: Acl, owner: string): Acl =>
  ownershipOf(bucket) === 'BucketOwnerEnforced' ? privateAcl(owner) : acl

/** PutBucketAcl. Throws AccessControlListNotSupported, MalformedACLError, AccessDenied. */
export const createPutBucketAcl =
  (deps: {
    access: Access
    buckets: Buckets
    receiver: Receiver
    directory: Directory
  }): StorageHandler =>
  async (request) => {
    const bucket = await deps.access.bucket(request)
    const acl = await aclOfRequest(deps, request, bucket, bucket.account)
    await deps.buckets.configure(bucket, 'acl', acl as unknown as Json)
    return emptyReply()
  }

/** GetObjectAcl. Throws NoSuchKey, AccessDenied. */
export const createGetObjectAcl =
  ({ access, ownerOf }: { access: Access; ownerOf: OwnerOf }): StorageHandler =>
  async (request) => {
    const { bucket, version } = await access.version(request)
    const acl = shown(bucket, aclOf(version), version.owner)
    return xmlReply(
      printAcl(acl, version.owner, (id) => ownerOf(id).displayName),
      versionIdHeader(bucket, version.versionId),
    )
  }

/** PutObjectAcl. Throws NoSuchKey, AccessControlListNotSupported, MalformedACLError, AccessDenied. */
export const createPutObjectAcl =
  (deps: {
    access: Access
    objects: Objects
    receiver: Receiver
    directory: Directory
  }): StorageHandler =>
  async (request) => {
    const { bucket, version } = await deps.access.version(request)
    const acl = await aclOfRequest(deps, request, bucket, version.owner)
    await deps.objects.amend(
      bucket,
      {
        key: present(request.body.target.key, 'an object has a key'),
        versionId: version.versionId,
      },
      { acl: acl as unknown as Json },
    )
    return emptyReply(versionIdHeader(bucket, version.versionId))
  }

/** The list in the headers or in the document of a request. Throws UnexpectedContent for both. */
async function aclOfRequest(
  { receiver, directory }: { receiver: Receiver; directory: Directory },
  request: StorageRequest,
  bucket: Bucket,
  owner: string,
): Promise<Acl> {
  const body = await receiver.document(request)
  const draft = draftOf(request, body)
  checkAclAllowed(ownershipOf(bucket), draft, bucket.account)
  const acl = await resolveAcl(draft, { owner, bucketOwner: bucket.account }, directory)
  checkAclBlocked(documentOf(bucket, 'public-access-block'), acl)
  return acl
}

function draftOf({ body: { headers } }: StorageRequest, body: Buffer): AclDraft {
  const draft = parseAclHeaders(headers)
  if (draft !== undefined && body.length > 0)
    throw storageFault(
      'UnexpectedContent',
      'This request does not support content: an ACL is said by headers or by a document',
    )
  if (draft !== undefined) return draft
  if (body.length === 0)
    throw storageFault('MissingSecurityHeader', 'Your request was missing a required header', {
      MissingHeaderName: 'x-amz-acl',
    })
  return parseAcl(body)
}
