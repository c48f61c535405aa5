// The attributes that a write gives an object, besides its bytes: headers, metadata, tags, ACL, lock, storage class.
import type { IncomingHttpHeaders } from 'node:http'
import { present } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Attributes, Bucket, Json } from '#objects/types.ts'
import { documentOf, ownershipOf } from '#s3/buckets/bucket-view.ts'
import type { Access } from '#s3/policy/access.ts'
import type { StorageRequest } from '#s3/call.ts'
import {
  parseAclHeaders,
  resolveAcl,
  type AclDraft,
  type Directory,
} from '#s3/policy/acl-drafts.ts'
import { defaultRetentionOf, parseLockHeaders } from '#s3/lock/object-lock.ts'
import { checkAclAllowed, givesBucketOwnerAll, ownerOfObject } from '#s3/policy/ownership.ts'
import { checkAclBlocked } from '#s3/policy/public-access.ts'
import { storageClassOf } from '#objects/storage-classes.ts'
import { parseTaggingHeader } from '#s3/tagging/tagging.ts'
import { objectHeaders } from './headers.ts'

export type WrittenAttributes = Omit<Attributes, 'etag' | 'size' | 'checksums'>
export type AttributesOf = (request: StorageRequest, bucket: Bucket) => Promise<WrittenAttributes>

/**
 * Throws InvalidTag, InvalidArgument, MetadataTooLarge, InvalidStorageClass, InvalidRequest (a lock in a bucket
 * without object lock), AccessControlListNotSupported, AccessDenied (a blocked ACL, or an attribute that the caller
 * may not set).
 */
export async function writtenAttributes(
  request: StorageRequest,
  bucket: Bucket,
  { access, directory, nowMs }: { access: Access; directory: Directory; nowMs: number },
): Promise<WrittenAttributes> {
  const { headers } = request.body
  checkRights(access, request, bucket)
  const tagging = headers['x-amz-tagging']
  const { system, metadata } = objectHeaders(headers)
  const lock = parseLockHeaders(headers, nowMs)
  if (!bucket.objectLock && (lock.retention !== undefined || lock.legalHold === true))
    throw storageFault('InvalidRequest', 'Bucket is missing Object Lock Configuration')
  return {
    headers: system as unknown as Record<string, string>,
    metadata,
    tags: typeof tagging === 'string' ? parseTaggingHeader(tagging) : {},
    ...(await ownerAndAcl(request, bucket, directory)),
    retention: lock.retention ?? defaultRetentionOf(documentOf(bucket, 'object-lock'), nowMs),
    legalHold: lock.legalHold ?? null,
    encryption: null,
    storageClass: storageClassOf(headers['x-amz-storage-class']),
  }
}

/** Attributes in headers need more permissions than s3:PutObject (AWS, "PutObject"). Throws AccessDenied. */
function checkRights(access: Access, request: StorageRequest, bucket: Bucket): void {
  const { headers, target } = request.body
  const key = present(target.key, 'an object has a key')
  const has = (name: string) => headers[`x-amz-${name}`] !== undefined
  const wanted = {
    's3:PutObjectRetention': has('object-lock-mode') || has('object-lock-retain-until-date'),
    's3:PutObjectLegalHold': has('object-lock-legal-hold'),
    's3:PutObjectAcl': setsAcl(headers, bucket),
    's3:PutObjectTagging': has('tagging'),
  }
  for (const [action, isWanted] of Object.entries(wanted))
    if (isWanted && !access.allows(request, bucket, { action, key }))
      throw storageFault('AccessDenied')
}

/**
 * `private` needs no permission, as it is the default. A grant that gives the bucket's owner everything needs only
 * s3:PutObject, as in AWS's example policy ("Require the x-amz-full-control header").
 */
function setsAcl(headers: IncomingHttpHeaders, bucket: Bucket): boolean {
  const draft = parseAclHeaders(headers)
  if (draft === undefined) return false
  if ('canned' in draft) return draft.canned !== 'private'
  return !givesBucketOwnerAll(draft, bucket.account)
}

async function ownerAndAcl(
  { caller, body: { headers } }: StorageRequest,
  bucket: Bucket,
  directory: Directory,
): Promise<{ owner: string; acl: Json }> {
  const ownership = ownershipOf(bucket)
  const asked = parseAclHeaders(headers)
  const draft = saysWhatHolds(bucket, asked) ? undefined : asked
  checkAclAllowed(ownership, draft, bucket.account)
  const owner = ownerOfObject({
    ownership,
    draft,
    writer: caller?.account,
    bucketOwner: bucket.account,
  })
  if (draft === undefined) return { owner, acl: null }
  const acl = await resolveAcl(draft, { owner, bucketOwner: bucket.account }, directory)
  checkAclBlocked(documentOf(bucket, 'public-access-block'), acl)
  return { owner, acl: acl as unknown as Json }
}

/**
 * rclone and others send `private` with every object. Where ACLs are off by default, an ACL that changes nothing is
 * accepted; where the owner switched ACLs off, it is refused as at AWS.
 */
const saysWhatHolds = (bucket: Bucket, asked: AclDraft | undefined): boolean =>
  documentOf(bucket, 'ownership-controls') === undefined &&
  asked !== undefined &&
  'canned' in asked &&
  asked.canned === 'private'
