// PUT /bucket.
import type { StorageSettings } from '#s3/settings.ts'
import type { Receiver } from '#s3/body/receive.ts'
import type { Buckets } from '#objects/objects.ts'
import { isDeepStrictEqual } from 'node:util'
import { present } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { checkBucketName } from '#s3/bucket-name.ts'
import type { Bucket, Json, Tags } from '#objects/types.ts'
import { parseAclHeaders, resolveAcl, type Directory } from '#s3/policy/acl-drafts.ts'
import { BY_SERVICE } from '#s3/encryption/encryption.ts'
import { checkBucketAcl, parseOwnershipHeader, type Ownership } from '#s3/policy/ownership.ts'
import { parseTagSet } from '#s3/tagging/tagging.ts'
import type { Acl } from '#s3/policy/acl.ts'
import { ownershipOf, privateAcl } from './bucket-view.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { askedRegion } from './regions.ts'
import { emptyReply } from '#s3/reply.ts'
import { xmlFields, optionalText } from '#s3/xml/fields.ts'
import { parseXml } from '#s3/xml/read.ts'

/**
 * CreateBucket; the owner may repeat it (rclone and others do). Throws AccessDenied without credentials,
 * InvalidBucketName, BucketAlreadyExists, BucketAlreadyOwnedByYou (it exists with other settings), TooManyBuckets,
 * InvalidLocationConstraint, InvalidTag, NotImplemented (directory buckets).
 */
export const createCreateBucket =
  ({
    buckets,
    receiver,
    settings,
    directory,
  }: {
    buckets: Buckets
    receiver: Receiver
    settings: StorageSettings
    directory: Directory
  }): StorageHandler =>
  async (request) => {
    const { caller, body } = request
    if (caller === undefined) throw storageFault('AccessDenied')
    const name = present(body.target.bucket, 'the operation has a bucket')
    checkBucketName(name)
    const { constraint, tags } = parseConfiguration(await receiver.document(request))
    const region = askedRegion(constraint, settings.region)
    const asked = {
      region,
      objectLock: String(body.headers['x-amz-bucket-object-lock-enabled']).toLowerCase() === 'true',
      tags,
      ...(await accessOf(request, caller.account, directory)),
    }
    const { bucket, created } = await buckets.create({
      name,
      account: caller.account,
      region: region ?? settings.region,
      objectLock: asked.objectLock,
      configurations: configurationsOf(asked, caller.account, settings),
    })
    if (!created) checkSame(bucket, asked)
    return emptyReply({ Location: `/${name}` })
  }

/** The settings in the request; undefined: not given. */
type BucketSettings = {
  readonly region: string | undefined
  readonly objectLock: boolean
  readonly tags: Tags | undefined
  readonly ownership: Ownership | undefined
  readonly acl: Acl | undefined
}

/** Ownership and ACL in the headers. Throws InvalidArgument, and what resolving grantees throws. */
async function accessOf(
  { body: { headers } }: StorageRequest,
  account: string,
  directory: Directory,
): Promise<Pick<BucketSettings, 'ownership' | 'acl'>> {
  const ownership = headers['x-amz-object-ownership']
  const draft = parseAclHeaders(headers)
  const owners = { owner: account, bucketOwner: account }
  return {
    ownership: typeof ownership === 'string' ? parseOwnershipHeader(ownership) : undefined,
    acl: draft === undefined ? undefined : await resolveAcl(draft, owners, directory),
  }
}

/** The configurations of a new bucket. Throws InvalidBucketAclWithObjectOwnership. */
export function configurationsOf(
  { ownership, acl, tags }: Partial<Pick<BucketSettings, 'ownership' | 'acl' | 'tags'>>,
  account: string,
  { acls, encrypts }: StorageSettings,
): Bucket['configurations'] {
  const kept = ownership ?? (acls ? 'ObjectWriter' : undefined)
  if (acl !== undefined) checkBucketAcl(kept ?? 'BucketOwnerEnforced', acl, account)
  return {
    ...(kept === undefined ? {} : { 'ownership-controls': kept }),
    ...(acl === undefined ? {} : { acl: { ...acl, [OF_CREATION]: true } as unknown as Json }),
    ...(tags === undefined ? {} : { tagging: tags }),
    ...(encrypts ? { encryption: BY_SERVICE } : {}),
  }
}

/** Marks the ACL of the creation; PutBucketAcl stores one without the mark. */
const OF_CREATION = 'ofCreation'

/** True when the bucket has the requested ACL. No ACL in the request means the one of the creation. */
function hasAcl({ account, configurations }: Bucket, asked: Acl | undefined): boolean {
  const { [OF_CREATION]: isOfCreation, ...current } = (configurations.acl ??
    privateAcl(account)) as unknown as Acl & { readonly [OF_CREATION]?: boolean }
  if (asked === undefined && isOfCreation !== true) return true
  return isDeepStrictEqual(current, asked ?? privateAcl(account))
}

/** Throws when the repeated creation asks for other settings than the bucket has. */
function checkSame(bucket: Bucket, asked: BucketSettings): void {
  const { name, region, objectLock, configurations } = bucket
  if (!hasAcl(bucket, asked.acl))
    throw storageFault('BucketAlreadyExists', undefined, { BucketName: name })
  const differs =
    (asked.region !== undefined && asked.region !== region) ||
    (asked.objectLock && !objectLock) ||
    (asked.ownership !== undefined && asked.ownership !== ownershipOf(bucket)) ||
    (asked.tags !== undefined && !isDeepStrictEqual(asked.tags, configurations.tagging))
  if (differs) throw storageFault('BucketAlreadyOwnedByYou', undefined, { BucketName: name })
}

/** Reads a CreateBucketConfiguration. */
function parseConfiguration(document: Buffer): { constraint?: string; tags: Tags | undefined } {
  if (document.length === 0) return { tags: undefined }
  const fields = xmlFields(parseXml(document, 'CreateBucketConfiguration'), {
    LocationConstraint: 'optional',
    Location: 'optional',
    Bucket: 'optional',
    Tags: 'optional',
  })
  if (fields.Location !== undefined || fields.Bucket !== undefined)
    throw storageFault('NotImplemented', 'Directory buckets are not served here.')
  const constraint = optionalText(fields.LocationConstraint)
  return {
    ...(constraint === undefined ? {} : { constraint }),
    tags: fields.Tags && parseTagSet(fields.Tags, 'bucket'),
  }
}
