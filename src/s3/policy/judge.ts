// Every operation gets its bucket or version here, judged by everything that the bucket says of access
// (documents/access.ts); nothing else in the door decides who may do what.
import type { IncomingHttpHeaders } from 'node:http'
import type { Clock } from '#base/clock.ts'
import { present, type ErgonError } from '#base/errors.ts'
import { storageFault } from '#contract/storage-errors.ts'
import type { Buckets, FoundVersion, Objects, Target } from '#objects/objects.ts'
import type { Bucket, Version } from '#objects/types.ts'
import type { Tags } from '#objects/types.ts'
import type { AdmitTransfer } from '#s3/body/admit-transfer.ts'
import { accessBucket, privateAcl } from '#s3/buckets/bucket-view.ts'
import type { StorageRequest } from '#s3/call.ts'
import type { CopySource } from '#s3/objects/copy-source.ts'
import { checkRoom } from '#s3/read-only.ts'
import { parseTaggingHeader } from '#s3/tagging/tagging.ts'
import { allowedBy, mayAllowStranger, type AccessReason } from './access.ts'
import type { Acl } from './acl.ts'
import { policyContext } from './policy-context.ts'

export type Found = FoundVersion & { readonly bucket: Bucket }

export interface Access {
  /**
   * The bucket of a request that may do what it asks. Throws NoSuchBucket, AccessDenied, balance_depleted
   * (it would store more, and is read-only). `initiatorIn` finds who began the upload that it is about.
   */
  bucket(
    request: StorageRequest,
    initiatorIn?: (bucket: Bucket) => Promise<string | undefined>,
  ): Promise<Bucket>
  /**
   * The same of a request for an upload that was begun. `saysIn` finds what its beginning said, which it is
   * judged by; undefined: there is no such upload, which only who may ask is told.
   */
  bucketOfUpload(
    request: StorageRequest,
    saysIn: (bucket: Bucket) => Promise<BodySays | undefined>,
  ): Promise<Bucket>
  /**
   * The version that a request is about. Throws what `bucket` does, NoSuchKey, NoSuchVersion
   * (AccessDenied for who may not list: what is not there is not told to strangers), MethodNotAllowed
   * (a delete marker by its version), and what `read` does: it is asked what the body sets when the request
   * could be allowed, which is judged then.
   */
  version(request: StorageRequest, read?: () => Promise<BodySays>): Promise<Found>
  /** The same of what a copy reads. */
  source(request: StorageRequest, place: CopySource): Promise<Found>
  /** The bucket, before anything is judged. Throws NoSuchBucket. */
  find(request: StorageRequest): Promise<Bucket>
  /** Whether another action than the request's own would be allowed. */
  allows(request: StorageRequest, bucket: Bucket, question: Question): boolean
}

/** What a body sets, or the beginning of an upload: judged in place of what the headers of the request say. */
export type BodySays = {
  readonly requestTags?: Tags
  /** As the headers of a write; those that are undefined are not there. */
  readonly headers?: IncomingHttpHeaders
}

export type Question = BodySays & {
  readonly action: string
  readonly key?: string
  /** As it is asked for: copies and batches name theirs elsewhere than in the query. */
  readonly versionId?: string | undefined
  /** The version that the action is about, where there is one. */
  readonly version?: Version
  /** What a listing would be asked for, where the request is none. */
  readonly prefix?: string
  /** What the body sets is not known yet. */
  readonly isForesight?: boolean
  /** It is about what a copy reads. */
  readonly isSource?: boolean
  /** Who began the upload that it is about. */
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
  ): Promise<Found> {
    const { key, versionId, action, isSource } = place
    const target = { key, ...(versionId === undefined ? {} : { versionId }) }
    const { bucket, found } = await objects.find(place.bucket, target)
    // The log is that of the bucket that the request names, not of the one that it copies from.
    if (!isSource) note(request, bucket)
    checkOwner(request, bucket, isSource ? SOURCE_OWNER : EXPECTED_OWNER)
    if (found === undefined) {
      const question = { action: 's3:ListBucket', prefix: key }
      throw allows(request, bucket, question) ? absent(target) : storageFault('AccessDenied')
    }
    const question = { action, key, versionId, version: found.version, isSource }
    if (readBody !== undefined && !allows(request, bucket, { ...question, isForesight: true }))
      throw storageFault('AccessDenied')
    await judge(request, bucket, { ...question, ...(await readBody?.()) })
    if (found.version.deleteMarker) throw refuseMarker(found.version, versionId)
    return { bucket, ...found }
  }

  async function enter(
    request: StorageRequest,
    learn: (bucket: Bucket) => Promise<Partial<Question> | undefined>,
  ): Promise<Bucket> {
    const bucket = await find(request)
    await judge(request, bucket, { ...questionOf(request), ...(await learn(bucket)) })
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
      // Finding a version does not ask what the account has: no read waits for that.
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

const questionOf = ({ body: { match, target } }: StorageRequest): Question => ({
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

/** What the log of the bucket says of the request. */
function note({ body: { trace } }: StorageRequest, bucket: Bucket): void {
  trace.bucket ??= bucket
}

/**
 * Before what a request asks is read: throws AccessDenied to who has no name when none of the actions could
 * be allowed to everybody, of any key.
 */
export function checkStranger(
  { who, body: { judging } }: StorageRequest,
  bucket: Bucket,
  actions: readonly string[],
): void {
  if (who !== undefined) return
  const asked = { bucket: accessBucket(bucket), judging }
  if (!actions.some((action) => mayAllowStranger({ ...asked, action })))
    throw storageFault('AccessDenied')
}

/** What makes parts of an object, and not the object. */
const OF_PARTS: ReadonlySet<string> = new Set([
  'create-multipart-upload',
  'upload-part',
  'upload-part-copy',
])

/** Judges one question by everything that the bucket, and the version, say. */
const createReasonFor =
  (clock: Clock) =>
  (request: StorageRequest, bucket: Bucket, question: Question): AccessReason | undefined => {
    const { headers, match, target, client, judging, trace } = request.body
    judging.question()
    const { action, key, versionId, version, prefix, isForesight = false } = question
    const caller = request.who?.account
    const requestTags = question.requestTags ?? taggedBy(request)
    return allowedBy({
      judging,
      caller,
      action,
      key,
      initiator: question.initiator,
      isForesight,
      bucket: accessBucket(bucket),
      object: version && { owner: version.owner, acl: aclOf(version) },
      context: policyContext({
        action,
        createsObject: action === 's3:PutObject' && !OF_PARTS.has(match.operation),
        headers: question.headers === undefined ? headers : { ...headers, ...question.headers },
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

/** The tags that the headers set; a copy that keeps those of its source sets none. */
function taggedBy({ body }: StorageRequest): Tags | undefined {
  const { 'x-amz-tagging': tagging, 'x-amz-tagging-directive': directive } = body.headers
  if (typeof tagging !== 'string') return undefined
  const areKept = body.match.operation === 'copy-object' && directive !== 'REPLACE'
  return areKept ? undefined : parseTaggingHeader(tagging)
}

/** Throws AccessDenied. What strangers may do costs the bucket's owner; a copy that of the bucket it goes to. */
const createJudge =
  (reasonFor: ReturnType<typeof createReasonFor>, admitTransfer: AdmitTransfer) =>
  async (request: StorageRequest, bucket: Bucket, question: Question): Promise<void> => {
    const by = reasonFor(request, bucket, question)
    request.body.trace.neededAcl = by === 'acl'
    if (by === undefined) throw storageFault('AccessDenied')
    if (request.who === undefined && question.isSource !== true)
      await admitTransfer(request, bucket, 0)
  }

/** The list of a version: its own, or one that gives its owner all. */
export const aclOf = (version: Version): Acl =>
  (version.acl as Acl | null) ?? privateAcl(version.owner)

const EXPECTED_OWNER = 'x-amz-expected-bucket-owner'
const SOURCE_OWNER = 'x-amz-source-expected-bucket-owner'

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
  const headers = { 'x-amz-delete-marker': 'true', 'x-amz-version-id': marker.versionId }
  return versionId === undefined
    ? storageFault('NoSuchKey', undefined, {}, headers)
    : storageFault('MethodNotAllowed', undefined, {}, { ...headers, allow: 'DELETE' })
}
