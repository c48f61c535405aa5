// PUT /bucket.
import { isDeepStrictEqual } from 'node:util'
import { present } from '#base/errors.ts'
import { storageFault } from '#storage/errors.ts'
import { checkBucketName } from '#storage/s3/bucket-name.ts'
import type { Bucket, Json } from '#storage/objects/types.ts'
import { parseAclHeaders, resolveAcl, type Directory } from '#storage/s3/documents/acl-drafts.ts'
import { checkBucketAcl, parseOwnershipHeader } from '#storage/s3/documents/ownership.ts'
import type { StorageHandler, StorageRequest } from '#storage/s3/call.ts'
import type { StorageDeps } from '#storage/s3/deps.ts'
import { emptyReply } from '#storage/s3/reply.ts'
import { fieldsOf, optionalText } from '#storage/s3/xml/fields.ts'
import { parseXml } from '#storage/s3/xml/read.ts'

const REGION_FORM = /^[a-z0-9][a-z0-9-]{0,62}$/

/**
 * CreateBucket; the owner may repeat it (rclone and others do). Throws AccessDenied without
 * credentials, InvalidBucketName, BucketAlreadyExists, InvalidLocationConstraint.
 */
export const createCreateBucket =
  ({ buckets, receiver, settings, directory }: StorageDeps): StorageHandler =>
  async (request) => {
    const { who, body } = request
    if (who === undefined) throw storageFault('AccessDenied')
    const name = present(body.target.bucket, 'the operation has a bucket')
    checkBucketName(name)
    const region = regionOf(await receiver.document(request), settings.region)
    const configurations = await configurationsOf(request, who.account, settings.acls, directory)
    const { bucket, created } = await buckets.create({
      name,
      account: who.account,
      region,
      objectLock: String(body.headers['x-amz-bucket-object-lock-enabled']).toLowerCase() === 'true',
      configurations,
    })
    // Asked for again it is there already, unless it would be another one.
    if (!created && !isDeepStrictEqual(bucket.configurations.acl, configurations.acl))
      throw storageFault('BucketAlreadyExists', undefined, { BucketName: name })
    return emptyReply({ Location: `/${name}` })
  }

/** What the headers say of ownership and ACL. Throws InvalidBucketAclWithObjectOwnership, InvalidArgument. */
async function configurationsOf(
  { body: { headers } }: StorageRequest,
  account: string,
  acls: boolean,
  directory: Directory,
): Promise<Bucket['configurations']> {
  const asked = headers['x-amz-object-ownership']
  const ownership =
    typeof asked === 'string'
      ? parseOwnershipHeader(asked)
      : acls
        ? 'ObjectWriter'
        : 'BucketOwnerEnforced'
  const draft = parseAclHeaders(headers)
  const owners = { owner: account, bucketOwner: account }
  const acl = draft === undefined ? undefined : await resolveAcl(draft, owners, directory)
  if (acl !== undefined) checkBucketAcl(ownership, acl, account)
  const isSaid = typeof asked === 'string' || acls
  return {
    ...(isSaid ? { 'ownership-controls': ownership } : {}),
    ...(acl === undefined ? {} : { acl: acl as unknown as Json }),
  }
}

function regionOf(document: Buffer, region: string): string {
  if (document.length === 0) return region
  const fields = fieldsOf(parseXml(document, 'CreateBucketConfiguration'), {
    LocationConstraint: 'optional',
    Location: 'optional',
    Bucket: 'optional',
    Tags: 'optional',
  })
  const asked = optionalText(fields.LocationConstraint)
  if (asked === undefined || asked === '') return region
  if (!REGION_FORM.test(asked)) throw storageFault('InvalidLocationConstraint')
  return asked
}
