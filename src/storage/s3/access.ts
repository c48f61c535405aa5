// Every operation gets its bucket or version here, judged by everything that the bucket says of access
// (documents/access.ts); nothing else in the door decides who may do what.
import type { Clock } from '#base/clock.ts'
import { present, type ErgonError } from '#base/errors.ts'
import { storageFault } from '#storage/errors.ts'
import type { Buckets, FoundVersion, Objects, Target } from '#storage/objects/objects.ts'
import type { Bucket, Version } from '#storage/objects/types.ts'
import type { AdmitTransfer } from './admit-transfer.ts'
import { accessBucket, privateAcl } from './bucket-view.ts'
import type { StorageRequest } from './call.ts'
import { isAllowed } from './documents/access.ts'
import type { Acl } from './documents/acl.ts'
import { policyContext } from './documents/policy-context.ts'
import { parseTaggingHeader } from './documents/tagging.ts'
import type { CopySource } from './objects/copy-source.ts'

export type Found = FoundVersion & { readonly bucket: Bucket }

export interface Access {
  /** The bucket of a request that may do what it asks. Throws NoSuchBucket, AccessDenied. */
  bucket(request: StorageRequest): Promise<Bucket>
  /**
   * The version that a request is about. Throws what `bucket` does, NoSuchKey, NoSuchVersion
   * (AccessDenied for who may not list: what is not there is not told to strangers), MethodNotAllowed
   * (a delete marker by its version).
   */
  version(request: StorageRequest): Promise<Found>
  /** The same of what a copy reads. */
  source(request: StorageRequest, place: CopySource): Promise<Found>
  /** The bucket, before anything is judged. Throws NoSuchBucket. */
  find(request: StorageRequest): Promise<Bucket>
  /** Whether another action than the request's own would be allowed. */
  allows(request: StorageRequest, bucket: Bucket, question: Question): boolean
}

export type Question = {
  readonly action: string
  readonly key?: string
  /** The version that the action is about, where there is one. */
  readonly version?: Version
  /** What a listing would be asked for, where the request is none. */
  readonly prefix?: string
}

export function createAccess(deps: {
  buckets: Buckets
  objects: Objects
  clock: Clock
  admitTransfer: AdmitTransfer
}): Access {
  const { buckets, objects, clock, admitTransfer } = deps

  const allows = createAllows(clock)

  /** What strangers may do costs the bucket's owner. */
  async function judge(request: StorageRequest, bucket: Bucket, question: Question): Promise<void> {
    if (!allows(request, bucket, question)) throw storageFault('AccessDenied')
    if (request.who === undefined) await admitTransfer(request, bucket, 0)
  }

  async function find(request: StorageRequest): Promise<Bucket> {
    const bucket = await buckets.get(
      present(request.body.target.bucket, 'the operation has a bucket'),
    )
    checkOwner(request, bucket)
    return bucket
  }

  async function read(
    request: StorageRequest,
    place: CopySource & { readonly action: string; readonly ownerHeader: string },
  ): Promise<Found> {
    const { key, versionId, action } = place
    const target = { key, ...(versionId === undefined ? {} : { versionId }) }
    const { bucket, found } = await objects.find(place.bucket, target)
    checkOwner(request, bucket, place.ownerHeader)
    if (found === undefined) {
      const question = { action: 's3:ListBucket', prefix: key }
      throw allows(request, bucket, question) ? absent(target) : storageFault('AccessDenied')
    }
    await judge(request, bucket, { action, key, version: found.version })
    if (found.version.deleteMarker) throw refuseMarker(found.version, versionId)
    return { bucket, ...found }
  }

  return {
    find,
    allows,
    async bucket(request) {
      const { match, target } = request.body
      const bucket = await find(request)
      const key = target.key === undefined ? {} : { key: target.key }
      await judge(request, bucket, { action: match.action, ...key })
      return bucket
    },
    version(request) {
      const { target, match } = request.body
      return read(request, {
        bucket: present(target.bucket, 'the operation has a bucket'),
        key: present(target.key, 'the operation has a key'),
        versionId: target.query.get('versionId'),
        action: match.action,
        ownerHeader: EXPECTED_OWNER,
      })
    },
    source: (request, place) =>
      read(request, {
        ...place,
        action: place.versionId === undefined ? 's3:GetObject' : 's3:GetObjectVersion',
        ownerHeader: 'x-amz-source-expected-bucket-owner',
      }),
  }
}

/** Judges one question by everything that the bucket, and the version, say. */
const createAllows =
  (clock: Clock): Access['allows'] =>
  (request: StorageRequest, bucket: Bucket, question: Question): boolean => {
    const { headers, target, address, isSecure } = request.body
    const { action, key, version, prefix } = question
    const caller = request.who?.account
    const tagging = headers['x-amz-tagging']
    return isAllowed({
      caller,
      action,
      key,
      bucket: accessBucket(bucket),
      object: version && { owner: version.owner, acl: aclOf(version) },
      context: policyContext({
        headers,
        query: target.query,
        sourceIp: address,
        secure: isSecure,
        nowMs: clock.wallMs(),
        account: caller,
        ...(prefix === undefined ? {} : { prefix }),
        ...(version === undefined ? {} : { existingTags: version.tags }),
        ...(typeof tagging === 'string' ? { requestTags: parseTaggingHeader(tagging) } : {}),
      }),
    })
  }

/** The list of a version: its own, or one that gives its owner all. */
export const aclOf = (version: Version): Acl =>
  (version.acl as Acl | null) ?? privateAcl(version.owner)

const EXPECTED_OWNER = 'x-amz-expected-bucket-owner'

/** Throws AccessDenied when the caller takes the bucket for another account's. */
function checkOwner({ body }: StorageRequest, bucket: Bucket, header = EXPECTED_OWNER): void {
  const expected = body.headers[header]
  if (expected !== undefined && expected !== bucket.account) throw storageFault('AccessDenied')
}

const absent = ({ key, versionId }: Target): ErgonError =>
  versionId === undefined
    ? storageFault('NoSuchKey', undefined, { Key: key })
    : storageFault('NoSuchVersion', undefined, { Key: key, VersionId: versionId })

/** A marker is no object: the key is gone (404), and by its own version it cannot be read (405). */
function refuseMarker(marker: Version, versionId: string | undefined): ErgonError {
  const details = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': marker.versionId }
  return versionId === undefined
    ? storageFault('NoSuchKey', undefined, details)
    : storageFault('MethodNotAllowed', undefined, details)
}
