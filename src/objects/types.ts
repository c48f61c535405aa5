// The stored data: buckets, versions of objects, uploads. Documents that only a protocol understands (an ACL, a
// policy, checksums) are JSON here and are returned as they were given.
import type { BlobRef } from '#blobs/blob.ts'

export type Json =
  | null
  | boolean
  | number
  | string
  | readonly Json[]
  | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }

/** The tags of an object or a bucket, by key. */
export type Tags = Readonly<Record<string, string>>

export const CONFIGURATION_KINDS = [
  'acl',
  'policy',
  'cors',
  'lifecycle',
  'tagging',
  'encryption',
  'website',
  'logging',
  'notification',
  'public-access-block',
  'ownership-controls',
  'object-lock',
  'request-payment',
  'accelerate',
] as const
export type ConfigurationKind = (typeof CONFIGURATION_KINDS)[number]

export type Versioning = 'off' | 'enabled' | 'suspended'

/** A bucket, for callers that need no more of it. */
export type BucketId = Pick<Bucket, 'id'>

export type Bucket = {
  readonly id: number
  /** Unique among the buckets of all accounts. */
  readonly name: string
  readonly account: string
  readonly region: string
  readonly createdAtMs: number
  readonly versioning: Versioning
  /** Object lock is available; versioning then stays enabled for good. */
  readonly objectLock: boolean
  readonly configurations: { readonly [kind in ConfigurationKind]?: Json }
  /** Its account cannot pay for more stored bytes. Only known for a bucket that was found by name. */
  readonly isReadOnly: boolean
}

export type Retention = {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly untilMs: number
}

/** The attributes that a write gives an object, besides its bytes. */
export type Attributes = {
  /** The ETag without quotes. */
  readonly etag: string
  /** In bytes, before encryption. */
  readonly size: number
  /** Algorithm → value, and the type (full object or composite), in the protocol's form. */
  readonly checksums: JsonObject
  /** Content-Type and similar headers, returned by reads. */
  readonly headers: Readonly<Record<string, string>>
  /** x-amz-meta-*, without the prefix. */
  readonly metadata: Readonly<Record<string, string>>
  readonly tags: Tags
  readonly acl: Json
  readonly retention: Retention | null
  /** Null while it was never set. */
  readonly legalHold: boolean | null
  /** The encryption with its wrapped key, or null. */
  readonly encryption: Json
  readonly storageClass: string
  /** The account that owns the object. */
  readonly owner: string
}

/** All annotations of a version. */
export type Sheet = {
  readonly sheet: number
  /** The root of their keys, wrapped like the version's own key. */
  readonly key: Json
  readonly count: number
  readonly bytes: number
  /** Changes with each change of the annotations. */
  readonly changed: number
}

/** The stored encryption and wrapped keys of a version. */
export type Seals = {
  /** The encryption, with the wrapped key of an inline body. */
  readonly encryption: Json
  /** The wrapped keys of its parts. */
  readonly parts: readonly Json[] | null
  readonly sheetKey: Json
}

/** A piece of a body: one blob. An object that was not uploaded in parts has one part, number 1. */
export type Part = {
  readonly number: number
  /** In bytes, before encryption; the blob of an encrypted body is larger. */
  readonly size: number
  readonly etag: string
  readonly checksums: JsonObject
  readonly encryption: Json
  readonly blob: PartBlob
}
/** Without `checksum` where that is read with the bytes. */
export type PartBlob = BlobRef & { readonly checksum?: string }

/** Small bodies are inline, in the row; all others are a list of parts. */
export type ObjectBody =
  | { readonly kind: 'inline'; readonly bytes: Buffer }
  | { readonly kind: 'parts'; readonly parts: readonly Part[] }

/**
 * Bodies up to this size are inline: at 4 KiB that has 1.8 times the rate of a file with fdatasync. TOAST cuts larger
 * values into pieces of 2 kB, each with an index entry.
 */
export const INLINE_SIZE_MAX = 32 * 1024

export type Version = Attributes & {
  readonly key: string
  /** `null` for the version that was written while versioning was not enabled. */
  readonly versionId: string
  readonly isLatest: boolean
  readonly deleteMarker: boolean
  readonly modifiedAtMs: number
  /** The number of uploaded parts; 0 when the object was not uploaded in parts. */
  readonly partCount: number
  /** Null when the version never had annotations. */
  readonly annotations: Sheet | null
}

/** Conditions that must hold when a write commits. ETags are without quotes. */
export type Conditions = {
  /** One of these ETags, or '*' for any object. Where there is no object, the code is NoSuchKey. */
  readonly ifMatch?: readonly string[] | '*'
  /** None of these ETags, or '*' for no object. */
  readonly ifNoneMatch?: readonly string[] | '*'
  /** For deletes: the size in bytes, and the modification time in seconds. */
  readonly ifMatchSize?: number
  readonly ifMatchModifiedMs?: number
  /** For deletes of a version: a newer version exists. */
  readonly ifNoncurrent?: boolean
}

export type Upload = {
  readonly id: string
  readonly key: string
  readonly initiatedAtMs: number
  /** The account that created the upload. */
  readonly initiator: string
  /** As given at creation; ETag and size are not known yet. */
  readonly attributes: UploadAttributes
}
/** `checksums` has the algorithm and type that the parts must have. */
export type UploadAttributes = Omit<Attributes, 'etag' | 'size'> & {
  /** Headers of the creation that policies also apply to the parts. */
  readonly said?: Readonly<Record<string, string>>
}

export type UploadPart = Part & { readonly modifiedAtMs: number }
