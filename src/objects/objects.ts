// The metadata of object storage: what a door calls. Every method is one round trip to the state and
// one transaction, unless it says otherwise; callers at the same time may share them (gather.ts). Errors
// are S3's codes (contract/storage-errors.ts).
import type { BlobRef } from '#blobs/blob.ts'
import type {
  Attributes,
  Body,
  Bucket,
  Conditions,
  ConfigurationKind,
  Json,
  JsonObject,
  Retention,
  Seals,
  Sheet,
  Upload,
  UploadAttributes,
  UploadPart,
  Part,
  Version,
} from './types.ts'

export interface Buckets {
  /**
   * Makes a bucket; `created` is false when the account has it already (then nothing is changed).
   * Throws BucketAlreadyExists when another account has it, TooManyBuckets.
   */
  create(bucket: NewBucket): Promise<{ bucket: Bucket; created: boolean }>
  /** Throws NoSuchBucket. */
  get(name: string): Promise<Bucket>
  /** Aborts open uploads. Throws NoSuchBucket, or BucketNotEmpty while there is a version or a delete marker. */
  delete(bucket: Bucket): Promise<void>
  /** By name; a prefix may be given. At most `limit`; `next` goes on from there. */
  list(query: BucketQuery): Promise<{ buckets: ListedBucket[]; next: string | undefined }>
  /** Sets one configuration; null removes it. */
  configure(bucket: Bucket, kind: ConfigurationKind, value: Json): Promise<void>
  /** Throws InvalidBucketState when object lock forbids it. */
  setVersioning(bucket: Bucket, versioning: 'enabled' | 'suspended'): Promise<void>
  /** Allows object lock and enables versioning with it. */
  enableObjectLock(bucket: Bucket): Promise<void>
}
/** Without its documents. */
export type ListedBucket = Omit<Bucket, 'configurations'>
export type NewBucket = {
  readonly name: string
  readonly account: string
  readonly region: string
  readonly objectLock: boolean
  readonly configurations: Bucket['configurations']
}
export type BucketQuery = {
  readonly account: string
  readonly prefix?: string
  readonly region?: string
  readonly after?: string
  readonly limit: number
}

/** A version of a key; without `versionId` the latest one. */
export type Target = { readonly key: string; readonly versionId?: string }
export type Written = { readonly versionId: string; readonly modifiedAtMs: number }
export type Deleted =
  | {
      readonly key: string
      /** Of what was removed, or of the marker that was made. */
      readonly versionId: string | undefined
      /** A marker was made, or a marker was removed. */
      readonly deleteMarker: boolean
    }
  /** `code` is AccessDenied (object lock), PreconditionFailed or NoSuchKey. */
  | { readonly key: string; readonly code: string }
export type Deletion = Target & { readonly conditions?: Conditions }

export interface Objects {
  /**
   * Commits an object: its blobs are durable already. Throws NoSuchBucket, PreconditionFailed or
   * NoSuchKey (If-Match without an object), decided in the transaction that commits.
   * Parts that `share` blobs of another version (a copy) may be gone by now:
   * ConditionalRequestConflict; look the source up again.
   */
  put(bucket: Bucket, key: string, written: WrittenObject): Promise<Written>
  /**
   * Throws what put() would throw by these conditions now: NoSuchBucket, PreconditionFailed, NoSuchKey. It is
   * asked before a body is read, for nothing; put() decides.
   */
  check(bucket: Bucket, key: string, conditions: Conditions): Promise<void>
  /** Makes garbage of bodies that will not be put after all; what a row names stays. */
  discard(blobs: readonly BlobRef[]): Promise<void>
  /**
   * A bucket and a version of it with its body, in one round trip; a delete marker has an empty one.
   * Without `found` there is no such key or version. Throws NoSuchBucket.
   */
  find(bucketName: string, target: Target): Promise<{ bucket: Bucket; found?: FoundVersion }>
  /**
   * Deletes up to 1000 keys or versions, each by itself: an answer for each, in order. Retention in
   * GOVERNANCE mode yields to `bypassGovernance`.
   */
  delete(
    bucket: Bucket,
    deletions: readonly Deletion[],
    options: { bypassGovernance: boolean },
  ): Promise<Deleted[]>
  /** Changes what may change on a version. Throws NoSuchKey, NoSuchVersion, MethodNotAllowed (marker). */
  amend(bucket: Bucket, target: Target, change: Amendment): Promise<Written>
  /**
   * Replaces the wrapped keys of a version, and what is said of them; no byte of it changes. Throws
   * NoSuchVersion, ConditionalRequestConflict (they are not `before` any more) and, unless
   * `despiteLock`, AccessDenied.
   */
  reseal(bucket: Pick<Bucket, 'id'>, target: Required<Target>, change: Resealing): Promise<void>
}
export type FoundVersion = { readonly version: Version; readonly body: Body }
export type WrittenObject = {
  readonly attributes: Attributes
  readonly body: Body
  readonly conditions?: Conditions
  /** The parts' blobs belong to another version too: they are counted, not taken. */
  readonly share?: boolean
  /** Of a copy of an object that was uploaded in parts. */
  readonly partCount?: number
  /** Of a copy: a sheet that was filled for it (Annotations.copy). */
  readonly annotations?: Sheet
  /** The event's name for notifications; by default ObjectCreated:Put. */
  readonly event?: 'ObjectCreated:Put' | 'ObjectCreated:Post' | 'ObjectCreated:Copy'
}
export type Resealing = {
  readonly before: Seals
  readonly after: Seals
  readonly despiteLock: boolean
}
/** Throws AccessDenied when retention would be weakened, unless it is GOVERNANCE and bypassed. */
export type Amendment =
  | { readonly tags: Readonly<Record<string, string>> }
  | { readonly acl: Json }
  | { readonly legalHold: boolean }
  | { readonly retention: Retention | null; readonly bypassGovernance: boolean }

/** Named texts of a version, sealed by whoever writes them. */
export interface Annotations {
  /**
   * Sets one. Throws NoSuchBucket, NoSuchKey, PreconditionFailed (another ETag), AccessDenied (object
   * lock keeps what it would replace), AnnotationLimitExceeded, and ConditionalRequestConflict when the
   * version is not what the writer sealed for: look it up again.
   */
  put(bucket: Bucket, target: Target, written: WrittenAnnotation): Promise<{ modifiedAtMs: number }>
  get(sheet: Sheet, name: string): Promise<KeptAnnotation | undefined>
  /** Also of what is not there. Throws NoSuchKey, PreconditionFailed, AccessDenied (object lock). */
  delete(
    bucket: Bucket,
    target: Target,
    of: { name: string; ifMatch: string | undefined; bypassGovernance: boolean },
  ): Promise<void>
  /** By name in UTF-8 byte order. */
  list(
    sheet: Sheet,
    query: { prefix: string; after: string; limit: number },
  ): Promise<{ entries: Annotation[]; truncated: boolean }>
  /**
   * Fills another sheet with the same, in several transactions; it is garbage until a version is put with
   * it, within the hour. `key` is the sheet's, wrapped for the version that will have it.
   */
  copy(sheet: Sheet, key: Json, signal: AbortSignal): Promise<Sheet>
}
export type Annotation = {
  readonly name: string
  /** In bytes, as the client sees it. */
  readonly size: number
  /** Without quotes. */
  readonly etag: string
  readonly checksums: JsonObject
  readonly modifiedAtMs: number
}
export type KeptAnnotation = Annotation & { readonly salt: Buffer; readonly sealed: Buffer }
export type WrittenAnnotation = Omit<KeptAnnotation, 'modifiedAtMs'> & {
  /** What the writer found of the version: its encryption without an envelope, its sheet. */
  readonly encryption: Json
  readonly sheet: Sheet | null
  /** Of a sheet that there is not yet. */
  readonly key: Json
  readonly ifMatch: string | undefined
  /** Replaces in spite of a retention in GOVERNANCE mode. */
  readonly bypassGovernance: boolean
}

export type ListQuery = {
  readonly prefix: string
  /** Empty: none. */
  readonly delimiter: string
  /** Entries after this key or common prefix; a key within a common prefix skips that prefix. */
  readonly after: string
  /** 0 to 1000. */
  readonly limit: number
}
export type Listed = Pick<
  Version,
  | 'key'
  | 'versionId'
  | 'isLatest'
  | 'deleteMarker'
  | 'size'
  | 'etag'
  | 'checksums'
  | 'storageClass'
  | 'owner'
  | 'modifiedAtMs'
>
/** What a list of objects says of one. */
export type ListedObject = Pick<
  Version,
  'key' | 'size' | 'etag' | 'storageClass' | 'owner' | 'modifiedAtMs'
> & { readonly checksum: { readonly algorithm: string; readonly type: string } | undefined }
export type Page<T> = {
  readonly entries: T[]
  readonly commonPrefixes: string[]
  readonly truncated: boolean
}

export interface Listings {
  /** Keys in UTF-8 byte order and common prefixes; `last` is the `after` of the next page. */
  objects(bucket: Bucket, query: ListQuery): Promise<Page<ListedObject> & { last: string }>
  /** All versions and markers: by key, newest first. Throws InvalidArgument for a marker of no form. */
  versions(
    bucket: Bucket,
    query: ListQuery & { afterVersion?: string },
  ): Promise<Page<Listed> & { last: { key: string; versionId: string } }>
  /** Uploads by key, oldest first. */
  uploads(
    bucket: Bucket,
    query: ListQuery & { afterUpload?: string },
  ): Promise<Page<Upload> & { last: { key: string; uploadId: string } }>
}

export interface Uploads {
  /** Throws NoSuchBucket, TooManyUploads. */
  create(
    bucket: Bucket,
    upload: {
      key: string
      initiator: string
      attributes: UploadAttributes
      /** Begun by somebody else than the bucket's account. */
      isGuest?: boolean
    },
  ): Promise<Upload>
  /** The upload, for a day after its completion too; undefined: there is none of this key. */
  find(bucket: Bucket, upload: { key: string; uploadId: string }): Promise<FoundUpload | undefined>
  /** Commits a part whose blob is durable; the same number replaces it. Throws NoSuchUpload. */
  putPart(
    bucket: Bucket,
    upload: { key: string; uploadId: string },
    part: Part,
  ): Promise<{ modifiedAtMs: number }>
  /** Parts by number after one. Throws NoSuchUpload. */
  parts(
    bucket: Bucket,
    upload: { key: string; uploadId: string },
    page: { after: number; limit: number },
  ): Promise<{ upload: Upload; parts: UploadPart[]; truncated: boolean }>
  /**
   * Makes the object of the listed parts, two round trips. `compose` gets them in order and says the
   * ETag and the checksums. The same request again gets the same answer for a day. Throws NoSuchUpload, InvalidPart,
   * InvalidPartOrder, EntityTooSmall, and what put() throws.
   */
  complete(
    bucket: Bucket,
    upload: { key: string; uploadId: string },
    completion: Completion,
  ): Promise<Completed>
  /** Throws NoSuchUpload. */
  abort(bucket: Bucket, upload: { key: string; uploadId: string }): Promise<void>
}
export type FoundUpload = Upload & { readonly isCompleted: boolean }
/** What completing says of the whole. */
export type Composed = { readonly etag: string; readonly checksums: JsonObject }

export type Completion = {
  readonly parts: readonly { readonly number: number; readonly etag: string }[]
  readonly conditions?: Conditions
  compose(parts: readonly UploadPart[], upload: Upload): Composed | Promise<Composed>
}
export type Completed = Written & {
  readonly etag: string
  readonly size: number
  readonly checksums: JsonObject
  readonly encryption: Json
}
