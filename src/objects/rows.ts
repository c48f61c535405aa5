// Converts between rows of the state and the types of the object store.
import { invariant } from '#base/errors.ts'
import type { BlobRef } from '#blobs/blob.ts'
import type { SqlRow } from '#state/connect.ts'
import type { ListedBucket } from './objects.ts'
import type {
  Attributes,
  ObjectBody,
  Bucket,
  Json,
  JsonObject,
  Part,
  Retention,
  Sheet,
  Upload,
  UploadAttributes,
  UploadPart,
  Version,
} from './types.ts'

/** A version, from VERSION_COLUMNS. */
export type VersionRow = {
  version_id: string
  is_latest: boolean
  delete_marker: boolean
  size: number
  etag: string
  checksums: JsonObject
  headers: Record<string, string>
  metadata: Record<string, string>
  tags: Record<string, string>
  acl: Json
  retention_mode: Retention['mode'] | null
  retain_until: Date | null
  legal_hold: boolean | null
  encryption: Json
  storage_class: string
  owner: string
  modified_at: Date
  part_count: number
  annotations: Sheet | null
  /** The parts with the current rows of their blobs; an empty list where they are too many beside other objects. */
  located: Part[] | null
  /** A body in the row. */
  inline: Buffer | null
}

const VERSION_NAMES: readonly (keyof VersionRow)[] = [
  'version_id',
  'is_latest',
  'delete_marker',
  'etag',
  'checksums',
  'headers',
  'metadata',
  'tags',
  'acl',
  'retention_mode',
  'retain_until',
  'legal_hold',
  'encryption',
  'storage_class',
  'owner',
  'modified_at',
  'part_count',
  'annotations',
  'located',
  'inline',
]
/** The columns of a VersionRow, from object_versions v. */
export const VERSION_COLUMNS = `v.size::float8, ${VERSION_NAMES.map((name) => `v.${name}`).join(', ')}`

export const toVersion = (key: string, row: VersionRow): Version => ({
  key,
  versionId: row.version_id,
  isLatest: row.is_latest,
  deleteMarker: row.delete_marker,
  size: row.size,
  etag: row.etag,
  checksums: row.checksums,
  storageClass: row.storage_class,
  owner: row.owner,
  modifiedAtMs: row.modified_at.getTime(),
  headers: row.headers,
  metadata: row.metadata,
  tags: row.tags,
  acl: row.acl,
  retention:
    row.retention_mode === null || row.retain_until === null
      ? null
      : { mode: row.retention_mode, untilMs: row.retain_until.getTime() },
  legalHold: row.legal_hold,
  encryption: row.encryption,
  partCount: row.part_count,
  annotations: row.annotations,
})

export function toBody({ located, inline }: VersionRow): ObjectBody {
  if (located !== null) return { kind: 'parts', parts: located }
  return { kind: 'inline', bytes: inline ?? Buffer.alloc(0) }
}

/** A bucket, from BUCKET_COLUMNS. */
export type BucketRow = SqlRow & {
  id: number
  name: string
  account: string
  region: string
  created_at: Date
  versioning: Bucket['versioning']
  object_lock: boolean
  /** The edition of its configurations. */
  edition: string
  /** Only in queries that ask for it. */
  is_read_only?: boolean
}

const BUCKET_NAMES: readonly (keyof BucketRow & string)[] = [
  'id',
  'name',
  'account',
  'region',
  'created_at',
  'versioning',
  'object_lock',
  'edition',
]
/** The columns of a BucketRow, from buckets b. */
export const BUCKET_COLUMNS = BUCKET_NAMES.map((name) => `b.${name}`).join(', ')
export const toListedBucket = (row: BucketRow): ListedBucket => ({
  id: row.id,
  name: row.name,
  account: row.account,
  region: row.region,
  createdAtMs: row.created_at.getTime(),
  versioning: row.versioning,
  objectLock: row.object_lock,
  isReadOnly: row.is_read_only === true,
})

export const toBucket = (row: BucketRow, configurations: Bucket['configurations']): Bucket => ({
  ...toListedBucket(row),
  configurations,
})

export type UploadRow = SqlRow & {
  id: string
  key: string
  initiator: string
  initiated_at: Date
  attributes: UploadAttributes
}

export const toUpload = (row: UploadRow): Upload => ({
  id: row.id,
  key: row.key,
  initiator: row.initiator,
  initiatedAtMs: row.initiated_at.getTime(),
  attributes: row.attributes,
})

export type PartRow = SqlRow & {
  number: number
  size: string
  etag: string
  checksums: JsonObject
  encryption: Json
  blob: BlobRef
  modified_at: Date
}

/** The columns of a PartRow, from upload_parts p and blobs b. No read of bytes uses them, so they have no checksum. */
export const PART_COLUMNS = `p.number, p.size, p.etag, p.checksums, p.encryption, p.modified_at,
  json_build_object('id', b.id, 'location', b.location, 'size', b.size) as blob`

export const toUploadPart = (row: PartRow): UploadPart => ({
  number: row.number,
  size: Number(row.size),
  etag: row.etag,
  checksums: row.checksums,
  encryption: row.encryption,
  blob: row.blob,
  modifiedAtMs: row.modified_at.getTime(),
})

/** The `written` of put.sql for parts that are in blobs. */
export const writtenParts = (parts: readonly Part[]) => ({
  parts: parts.map(({ number, size, etag, checksums, encryption, blob }) => ({
    number,
    size,
    etag,
    checksums,
    encryption,
    blob: blob.id,
  })),
})

/** Sorts rows by their number `n`, from 1: SQL promises no order. */
export function inOrder<R extends { n: number }>(rows: readonly R[], count: number): R[] {
  const ordered = rows.toSorted((a, b) => a.n - b.n)
  invariant(
    ordered.length === count && ordered.every(({ n }, at) => n === at + 1),
    'each question has one row',
  )
  return ordered
}

/** Checks the size: an object of parts has the sum of their sizes. */
export function checkedSize(attributes: Attributes, body: ObjectBody): void {
  const size =
    body.kind === 'inline'
      ? body.bytes.length
      : body.parts.reduce((total, part) => total + part.size, 0)
  // An encrypted inline body is longer by its tag.
  invariant(
    size === attributes.size || (body.kind === 'inline' && attributes.encryption !== null),
    `The body has ${size} bytes, not ${attributes.size}`,
  )
}
