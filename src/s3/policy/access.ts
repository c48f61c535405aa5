// Every operation gets its bucket or version here, after access-rules.ts has judged the request by all rules of the bucket.
// No other part decides about rights.
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '#base/clock.ts'
import { present, type ErgonError } from '#base/errors.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import type { Buckets, FoundVersion, Objects, ObjectTarget } from '#objects/objects.ts'
import type { Bucket, Version, Tags } from '#objects/types.ts'
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import { accessBucket, privateAcl } from '#s3/buckets/bucket-view.ts'
import type { StorageRequest } from '#s3/call.ts'
import type { CopySource } from '#s3/objects/copy-source.ts'
import { checkRoom } from '#s3/read-only.ts'
import { parseTaggingHeader } from '#s3/tagging/tagging.ts'
import { allowedBy, mayAllowStranger, type AccessReason } from './access-rules.ts'
import type { Acl } from './acl.ts'
import { policyContext } from './policy-context.ts'

export type FoundObject = FoundVersion & { readonly bucket: Bucket }

export interface Access {
  /**
   * The bucket of an allowed request. Throws NoSuchBucket, AccessDenied, balance_depleted (the operation adds bytes,
   * and the bucket is read-only). `initiatorIn` finds the creator of the upload in the request.
   */
  bucket(
    request: StorageRequest,
    initiatorIn?: (bucket: Bucket) => Promise<string | undefined>,
  ): Promise<Bucket>
  /**
   * The bucket of an allowed request about an existing upload. `saysIn` finds the headers of its creation, which the
   * request is judged by; undefined: there is no such upload, which only an allowed caller learns.
   */
  bucketOfUpload(
    request: StorageRequest,
    saysIn: (bucket: Bucket) => Promise<BodySays | undefined>,
  ): Promise<Bucket>
  /**
   * The version of an allowed request. Throws what `bucket` throws, NoSuchKey, NoSuchVersion (AccessDenied for
   * callers that may not list), MethodNotAllowed (a delete marker by its version), and what `read` throws. `read`
   * reads what the body sets; it is called only when the request could be allowed, and its result is judged.
   */
  version(request: StorageRequest, read?: () => Promise<BodySays>): Promise<FoundObject>
  /** The version that a copy reads. */
  source(request: StorageRequest, place: CopySource): Promise<FoundObject>
  /** The bucket, without judging. Throws NoSuchBucket. */
  find(request: StorageRequest): Promise<Bucket>
  /** True when the caller could do another action. */
  allows(request: StorageRequest, bucket: Bucket, wanted: AccessRequest): boolean
}

/** The attributes that a body or the creation of an upload sets, judged instead of the request's headers. */
export type BodySays = {
  readonly requestTags?: Tags
  /** As headers of a write; undefined means absent. */
  readonly headers?: IncomingHttpHeaders
}

export type AccessRequest = BodySays & {
  readonly action: string
  readonly key?: string
  /** The version id in the request; copies and batches have theirs outside the query. */
  readonly versionId?: string | undefined
  /** The version of the action, where it exists. */
  readonly version?: Version
  /** The prefix of a listing, where the request is none. */
  readonly prefix?: string
  /** The body is not read yet. */
  readonly isForesight?: boolean
  /** For the source of a copy. */
  readonly isSource?: boolean
  /** The creator of the upload. */
  readonly initiator?: string | undefined
}

export function createAccess(deps: {
  buckets: Buckets
  objects: Objects
  clock: Clock
  admitTransfer: AdmitTransfer
}): Access {
  const { buckets, objects, clock, admitTransfer } = deps

  const reasonFor = createReasonFor(clock)
  const judge = createJudge(reasonFor, admitTransfer)
  const allows: Access['allows'] = (...asked) => reasonFor(...asked) !== undefined

  async function find(request: StorageRequest): Promise<Bucket> {
    const bucket = await buckets.get(
      present(request.body.target.bucket, 'the operation has a bucket'),
    )
    note(request, bucket)
    checkOwner(request, bucket)
    return bucket
  }

  async function read(
    request: StorageRequest,
    place: CopySource & { readonly action: string; readonly isSource: boolean },
    readBody?: () => Promise<BodySays>,
  ): Promise<FoundObject> {
    const { key, versionId, action, isSource } = place
    const target = { key, ...(versionId === undefined ? {} : { versionId }) }
    const { bucket, found } = await objects.find(place.bucket, target)
    // The access log is that of the bucket in the address, not of the copy's source.
    if (!isSource) note(request, bucket)
    checkOwner(request, bucket, isSource ? SOURCE_OWNER : EXPECTED_OWNER)
    if (found === undefined) {
      const wanted = { action: 's3:ListBucket', prefix: key }
      throw allows(request, bucket, wanted) ? absent(target) : storageFault('AccessDenied')
    }
    const wanted = { action, key, versionId, version: found.version, isSource }
    if (readBody !== undefined && !allows(request, bucket, { ...wanted, isForesight: true }))
      throw storageFault('AccessDenied')
    await judge(request, bucket, { ...wanted, ...(await readBody?.()) })
    if (found.version.deleteMarker) throw refuseMarker(found.version, versionId)
    return { bucket, ...found }
  }

  async function enter(
    request: StorageRequest,
    learn: (bucket: Bucket) => Promise<Partial<AccessRequest> | undefined>,
  ): Promise<Bucket> {
    const bucket = await find(request)
    await judge(request, bucket, { ...wantedAccess(request), ...(await learn(bucket)) })
    checkRoom(request.body.match.row, bucket)
    return bucket
  }

  return {
    find,
    allows,
    bucket: (request, initiatorIn) =>
      enter(request, async (bucket) => ({ initiator: await initiatorIn?.(bucket) })),
    bucketOfUpload: enter,
    async version(request, readBody) {
      const { match, trace } = request.body
      const found = await read(request, placeOf(request), readBody)
      // Only writes need to know whether the bucket is read-only.
      if (match.row.effect === 'store') checkRoom(match.row, await find(request))
      trace.version = found.version
      return found
    },
    source: async (request, place) =>
      await read(request, {
        ...place,
        action: place.versionId === undefined ? 's3:GetObject' : 's3:GetObjectVersion',
        isSource: true,
      }),
  }
}

const wantedAccess = ({ body: { match, target } }: StorageRequest): AccessRequest => ({
  action: match.action,
  ...(target.key === undefined ? {} : { key: target.key, versionId: versionOf(target) }),
})

const placeOf = ({ body: { match, target } }: StorageRequest) => ({
  bucket: present(target.bucket, 'the operation has a bucket'),
  key: present(target.key, 'the operation has a key'),
  versionId: versionOf(target),
  action: match.action,
  isSource: false,
})

const versionOf = ({ query }: StorageRequest['body']['target']) => query.get('versionId')

/** Records the bucket for its access log. */
function note({ body: { trace } }: StorageRequest, bucket: Bucket): void {
  trace.bucket ??= bucket
}

/**
 * Called before a body is read: throws AccessDenied for an anonymous caller when none of the actions could be allowed
 * to everyone, for any key.
 */
export function checkStranger(
  { caller, body: { judging } }: StorageRequest,
  bucket: Bucket,
  actions: readonly string[],
): void {
  if (caller !== undefined) return
  const asked = { bucket: accessBucket(bucket), judging }
  if (!actions.some((action) => mayAllowStranger({ ...asked, action })))
    throw storageFault('AccessDenied')
}

/** Operations that write parts and not the object. */
const OF_PARTS: ReadonlySet<string> = new Set([
  'create-multipart-upload',
  'upload-part',
  'upload-part-copy',
])

/** Judges an action by all rules of the bucket and the version. */
const createReasonFor =
  (clock: Clock) =>
  (request: StorageRequest, bucket: Bucket, wanted: AccessRequest): AccessReason | undefined => {
    const { headers, match, target, client, judging, trace } = request.body
    judging.addAction()
    const { action, key, versionId, version, prefix, isForesight = false } = wanted
    const caller = request.caller?.account
    const requestTags = wanted.requestTags ?? taggedBy(request)
    return allowedBy({
      judging,
      caller,
      action,
      key,
      initiator: wanted.initiator,
      isForesight,
      bucket: accessBucket(bucket),
      object: version && { owner: version.owner, acl: aclOf(version) },
      context: policyContext({
        action,
        createsObject: action === 's3:PutObject' && !OF_PARTS.has(match.operation),
        headers: wanted.headers === undefined ? headers : { ...headers, ...wanted.headers },
        query: target.query,
        sourceIp: client.address,
        secure: client.isSecure,
        nowMs: clock.wallMs(),
        account: caller,
        signing: trace.signing,
        versionId,
        ...(prefix === undefined ? {} : { prefix }),
        ...(version === undefined ? {} : { existingTags: version.tags }),
        ...(requestTags && { requestTags }),
      }),
    })
  }

/** The tags in the headers; a copy that keeps its source's tags sets none. */
function taggedBy({ body }: StorageRequest): Tags | undefined {
  const { 'x-amz-tagging': tagging, 'x-amz-tagging-directive': directive } = body.headers
  if (typeof tagging !== 'string') return undefined
  const areKept = body.match.operation === 'copy-object' && directive !== 'REPLACE'
  return areKept ? undefined : parseTaggingHeader(tagging)
}

/**
 * Throws AccessDenied. The bucket's owner pays for anonymous callers; for copies it is the owner of the destination.
 */
const createJudge =
  (reasonFor: ReturnType<typeof createReasonFor>, admitTransfer: AdmitTransfer) =>
  async (request: StorageRequest, bucket: Bucket, wanted: AccessRequest): Promise<void> => {
    const by = reasonFor(request, bucket, wanted)
    request.body.trace.neededAcl = by === 'acl'
    if (by === undefined) throw storageFault('AccessDenied')
    if (request.caller === undefined && wanted.isSource !== true)
      await admitTransfer(request, bucket, 0)
  }

/** The ACL of a version: its own, or the default, which gives its owner everything. */
export const aclOf = (version: Version): Acl =>
  (version.acl as Acl | null) ?? privateAcl(version.owner)

const EXPECTED_OWNER = 'x-amz-expected-bucket-owner'
const SOURCE_OWNER = 'x-amz-source-expected-bucket-owner'

/** Throws AccessDenied when the bucket's owner is not the expected one. */
function checkOwner({ body }: StorageRequest, bucket: Bucket, header = EXPECTED_OWNER): void {
  const expected = body.headers[header]
  if (expected !== undefined && expected !== bucket.account) throw storageFault('AccessDenied')
}

const absent = ({ key, versionId }: ObjectTarget): ErgonError =>
  versionId === undefined
    ? storageFault('NoSuchKey', undefined, { Key: key })
    : storageFault('NoSuchVersion', undefined, { Key: key, VersionId: versionId })

/** A delete marker has no body: by key it is 404, by version 405. */
function refuseMarker(marker: Version, versionId: string | undefined): ErgonError {
  const headers = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': marker.versionId }
  return versionId === undefined
    ? storageFault('NoSuchKey', undefined, {}, headers)
    : storageFault('MethodNotAllowed', undefined, {}, { ...headers, allow: 'DELETE' })
}
