// The interface of the object store. Each method is one round trip to the state and one transaction unless its
// comment says otherwise; concurrent calls may share both (gather.ts). Errors have codes of
// contract/storage/storage-errors.ts.
import type { BlobRef } from '#blobs/blob.ts'
import type {
  Attributes,
  ObjectBody,
  Bucket,
  BucketId,
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
   * Creates a bucket; `created` is false when the account has it already, and then nothing changes. Throws
   * BucketAlreadyExists when another account has it, TooManyBuckets.
   */
  create(bucket: NewBucket): Promise<{ bucket: Bucket; created: boolean }>
  /** Throws NoSuchBucket. */
  get(name: string): Promise<Bucket>
  /**
   * Aborts open uploads, and returns the number of their parts. Throws NoSuchBucket, or BucketNotEmpty while there is a
   * version or a delete marker.
   */
  delete(bucket: Bucket): Promise<number>
  /** Buckets by name, at most `limit`. `next` is the `after` of the next page. */
  list(query: BucketQuery): Promise<{ buckets: ListedBucket[]; next: string | undefined }>
  /** Sets one configuration; null removes it. */
  configure(bucket: Bucket, kind: ConfigurationKind, value: Json): Promise<void>
  /** Throws InvalidBucketState when object lock forbids it. */
  setVersioning(bucket: Bucket, versioning: 'enabled' | 'suspended'): Promise<void>
  /** Allows object lock and enables versioning with it. */
  enableObjectLock(bucket: Bucket): Promise<void>
}
/** A bucket without its configurations. */
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
export type ObjectTarget = { readonly key: string; readonly versionId?: string }
export type Written = { readonly versionId: string; readonly modifiedAtMs: number }
export type Deleted =
  | {
      readonly key: string
      /** The id of the removed version or of the new marker. */
      readonly versionId: string | undefined
      /** A marker was created or removed. */
      readonly deleteMarker: boolean
      /** The number of blobs that the removed version named: one for each part, or 1 for bytes in its row. 0 where none was removed. */
      readonly blobs: number
    }
  /** `code` is AccessDenied (object lock), PreconditionFailed, NoSuchKey, or InternalError (a damaged page). */
  | { readonly key: string; readonly code: string }
export type Deletion = ObjectTarget & { readonly conditions?: Conditions }

export interface Objects {
  /**
   * Commits an object whose blobs are durable. Throws NoSuchBucket, PreconditionFailed, and NoSuchKey (If-Match
   * without an object), as judged in the transaction that commits. Throws ConditionalRequestConflict when blobs that
   * the object should `share` with a source are gone: find the source again.
   */
  put(bucket: Bucket, key: string, written: WrittenObject): Promise<Written>
  /**
   * Throws what put() would throw for these conditions now: NoSuchBucket, PreconditionFailed, NoSuchKey. It saves
   * reading a body in vain; put() decides.
   */
  check(bucket: Bucket, key: string, conditions: Conditions): Promise<void>
  /** Turns blobs of a body that will not be committed into garbage. Blobs that a row names stay. */
  discard(blobs: readonly BlobRef[]): Promise<void>
  /**
   * A bucket and a version with its body; the body of a delete marker is empty. `found` is absent when the key or the
   * version does not exist. Throws NoSuchBucket.
   */
  find(bucketName: string, target: ObjectTarget): Promise<{ bucket: Bucket; found?: FoundVersion }>
  /**
   * Deletes up to 1000 keys or versions, each on its own; one answer for each, in order. Retention in GOVERNANCE mode
   * yields to `bypassGovernance`.
   */
  delete(
    bucket: Bucket,
    deletions: readonly Deletion[],
    options: { bypassGovernance: boolean },
  ): Promise<Deleted[]>
  /** Changes tags, ACL or lock of a version. Throws NoSuchKey, NoSuchVersion, MethodNotAllowed (marker). */
  amend(bucket: Bucket, target: ObjectTarget, change: Amendment): Promise<Written>
  /**
   * Replaces the wrapped keys and the encryption of a version; its bytes stay. Throws NoSuchVersion,
   * ConditionalRequestConflict (the seals are not `before` any more) and, unless `despiteLock`, AccessDenied.
   */
  reseal(bucket: BucketId, target: Required<ObjectTarget>, change: Resealing): Promise<void>
}
export type FoundVersion = { readonly version: Version; readonly body: ObjectBody }
export type WrittenObject = {
  readonly attributes: Attributes
  readonly body: ObjectBody
  readonly conditions?: Conditions
  /** The blobs belong to another version too: they get one more reference. */
  readonly share?: boolean
  /** For a copy of an object that was uploaded in parts. */
  readonly partCount?: number
  /** For a copy: a sheet that was filled for it (Annotations.copy). */
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

/** Named texts of a version. The caller encrypts them. */
export interface Annotations {
  /**
   * Writes one annotation. Throws NoSuchBucket, NoSuchKey, PreconditionFailed (another ETag), AccessDenied (object
   * lock protects the annotation that would be replaced), AnnotationLimitExceeded, and ConditionalRequestConflict
   * when the version has changed since the caller encrypted: find the version again.
   */
  put(
    bucket: Bucket,
    target: ObjectTarget,
    written: WrittenAnnotation,
  ): Promise<{ modifiedAtMs: number }>
  get(sheet: Sheet, name: string): Promise<KeptAnnotation | undefined>
  /**
   * Deletes one annotation; a missing one is no error. Throws NoSuchKey, PreconditionFailed, AccessDenied (object
   * lock).
   */
  delete(
    bucket: Bucket,
    target: ObjectTarget,
    of: { name: string; ifMatch: string | undefined; bypassGovernance: boolean },
  ): Promise<void>
  /** Lists annotations by name, in UTF-8 byte order. */
  list(
    sheet: Sheet,
    query: { prefix: string; after: string; limit: number },
  ): Promise<{ entries: Annotation[]; truncated: boolean }>
  /**
   * Copies the annotations into a new sheet, in several transactions. The new sheet is garbage until a version is put
   * with it, within the hour. `key` is the wrapped key of the new sheet.
   */
  copy(sheet: Sheet, key: Json, signal: AbortSignal): Promise<Sheet>
}
export type Annotation = {
  readonly name: string
  /** In bytes, before encryption. */
  readonly size: number
  /** The ETag without quotes. */
  readonly etag: string
  readonly checksums: JsonObject
  readonly modifiedAtMs: number
}
export type KeptAnnotation = Annotation & { readonly salt: Buffer; readonly sealed: Buffer }
export type WrittenAnnotation = Omit<KeptAnnotation, 'modifiedAtMs'> & {
  /** The version's encryption (without an envelope) and sheet, as the writer read them. */
  readonly encryption: Json
  readonly sheet: Sheet | null
  /** The wrapped key of a new sheet. */
  readonly key: Json
  readonly ifMatch: string | undefined
  /** Ignores a retention in GOVERNANCE mode. */
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
/** An object in a listing. */
export type ListedObject = Pick<Version, 'key' | 'size' | 'etag' | 'modifiedAtMs'> & {
  readonly traits: ListedTraits
}
/** A version or a delete marker in a listing. */
export type VersionEntry = ListedObject & Pick<Version, 'versionId' | 'isLatest' | 'deleteMarker'>
/** Facts that most objects of a page share. */
export type ListedTraits = Pick<Version, 'storageClass' | 'owner'> & {
  readonly checksum: { readonly algorithm: string; readonly type: string } | undefined
}
export type Page<T> = {
  readonly entries: T[]
  readonly commonPrefixes: string[]
  readonly truncated: boolean
}

export interface Listings {
  /** Keys in UTF-8 byte order and common prefixes; `last` is the `after` of the next page. */
  objects(bucket: BucketId, query: ListQuery): Promise<Page<ListedObject> & { last: string }>
  /** All versions and markers: by key, newest first. Throws InvalidArgument for a malformed marker. */
  versions(
    bucket: BucketId,
    query: ListQuery & { afterVersion?: string },
  ): Promise<Page<VersionEntry> & { last: { key: string; versionId: string } }>
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
      /** Created by another account than the bucket's. */
      isGuest?: boolean
    },
  ): Promise<Upload>
  /** The upload, also for a day after its completion; undefined when the key has no such upload. */
  find(bucket: Bucket, upload: { key: string; uploadId: string }): Promise<FoundUpload | undefined>
  /**
   * Commits a part whose blob is durable; a second part of the same number replaces the first. Throws NoSuchUpload.
   */
  putPart(
    bucket: Bucket,
    upload: { key: string; uploadId: string },
    part: Part,
  ): Promise<{ modifiedAtMs: number }>
  /** Parts by number. Throws NoSuchUpload. */
  parts(
    bucket: Bucket,
    upload: { key: string; uploadId: string },
    page: { after: number; limit: number },
  ): Promise<{ upload: Upload; parts: UploadPart[]; truncated: boolean }>
  /**
   * Creates the object from the listed parts, in two round trips. `compose` gets the parts in order and returns ETag
   * and checksums. The same completion gets the same answer for a day. Throws NoSuchUpload, InvalidPart,
   * InvalidPartOrder, EntityTooSmall, and the faults of put().
   */
  complete(
    bucket: Bucket,
    upload: { key: string; uploadId: string },
    completion: Completion,
  ): Promise<Completed>
  /** Returns the number of removed parts. Throws NoSuchUpload. */
  abort(bucket: Bucket, upload: { key: string; uploadId: string }): Promise<number>
}
export type FoundUpload = Upload & { readonly isCompleted: boolean }
/** ETag and checksums of the completed object. */
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
