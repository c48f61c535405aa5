// What the object store keeps: buckets, versions of objects, uploads. Documents that only a door
// understands (an ACL, a policy, checksums) are JSON here and come back as they were given.
import type { NewBlob } from '#blobs/blob.ts'

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

export type Bucket = {
  readonly id: number
  /** Unique over all accounts. */
  readonly name: string
  readonly account: string
  readonly region: string
  readonly createdAtMs: number
  readonly versioning: Versioning
  /** Object lock can be used; versioning is then enabled for good. */
  readonly objectLock: boolean
  readonly configurations: { readonly [kind in ConfigurationKind]?: Json }
  /** Its account cannot pay for storing more; known where a bucket was asked for by its name. */
  readonly isReadOnly: boolean
}

export type Retention = {
  readonly mode: 'GOVERNANCE' | 'COMPLIANCE'
  readonly untilMs: number
}

/** What a writer says about an object, besides its bytes. */
export type Attributes = {
  /** Without quotes. */
  readonly etag: string
  /** In bytes, as the client sees it. */
  readonly size: number
  /** Algorithm → value, and the type (full object or composite): the door's own form. */
  readonly checksums: JsonObject
  /** Content-Type and the like, to be sent back. */
  readonly headers: Readonly<Record<string, string>>
  /** x-amz-meta-*, without the prefix. */
  readonly metadata: Readonly<Record<string, string>>
  readonly tags: Tags
  readonly acl: Json
  readonly retention: Retention | null
  /** Null while it was never set. */
  readonly legalHold: boolean | null
  /** How the bytes are encrypted (wrapped key, algorithm), or null. */
  readonly encryption: Json
  readonly storageClass: string
  /** The account that owns the object. */
  readonly owner: string
}

/** The annotations of a version together. */
export type Sheet = {
  readonly sheet: number
  /** What their keys follow from, wrapped as the version's own key is. */
  readonly key: Json
  readonly count: number
  readonly bytes: number
  /** Another with each change. */
  readonly changed: number
}

/** What is kept of how a version is encrypted. */
export type Seals = {
  /** With the wrapped key of a body in the row. */
  readonly encryption: Json
  /** The wrapped keys of its parts. */
  readonly parts: readonly Json[] | null
  readonly sheetKey: Json
}

/** A piece of a body: one blob. An object that was not uploaded in parts has one, with number 1. */
export type Part = {
  readonly number: number
  /** In bytes, as the client sees it; a blob of encrypted bytes may be larger. */
  readonly size: number
  readonly etag: string
  readonly checksums: JsonObject
  readonly encryption: Json
  readonly blob: NewBlob
}

/** Small bodies are in the row; all others are a list of parts. */
export type Body =
  | { readonly kind: 'inline'; readonly bytes: Buffer }
  | { readonly kind: 'parts'; readonly parts: readonly Part[] }

/**
 * Bodies up to here go into the row: 1.8 times the rate of a file with fdatasync at 4 KiB. Beyond,
 * TOAST cuts them into 2 kB pieces, each with its own index entry.
 */
export const INLINE_SIZE_MAX = 32 * 1024

export type Version = Attributes & {
  readonly key: string
  /** `null` for the version that was written while versioning was not enabled. */
  readonly versionId: string
  readonly isLatest: boolean
  readonly deleteMarker: boolean
  readonly modifiedAtMs: number
  /** How many parts it was uploaded in; 0 when it was not uploaded in parts. */
  readonly partCount: number
  /** Null while it has never had any. */
  readonly annotations: Sheet | null
}

/** What must hold when a write commits. ETags are without quotes. */
export type Conditions = {
  /** Any of these, or any object at all. Absent object: NoSuchKey. */
  readonly ifMatch?: readonly string[] | '*'
  /** None of these, or no object at all. */
  readonly ifNoneMatch?: readonly string[] | '*'
  /** Of deletes: the size in bytes, and the time of change to the second. */
  readonly ifMatchSize?: number
  readonly ifMatchModifiedMs?: number
  /** Of deletes of a version: another one is the latest. */
  readonly ifNoncurrent?: boolean
}

export type Upload = {
  readonly id: string
  readonly key: string
  readonly initiatedAtMs: number
  /** The account that began it. */
  readonly initiator: string
  /** As given at the beginning; etag and size are not known yet. */
  readonly attributes: UploadAttributes
}
/** `checksums` holds the algorithm and type that the parts are to have. */
export type UploadAttributes = Omit<Attributes, 'etag' | 'size'> & {
  /** Headers of the beginning that policies ask of its parts too. */
  readonly said?: Readonly<Record<string, string>>
}

export type UploadPart = Part & { readonly modifiedAtMs: number }
