// The replies of listings. A truncated page always names where the next page begins, also when the page has only
// common prefixes: rclone and aws-cli stop or loop otherwise.
import type { ListedObject, VersionEntry } from '#objects/objects.ts'
import { isoTime, writeXml, type XmlNode } from '#s3/xml/write.ts'
import {
  nameWriter,
  objectWriter,
  ownerXml,
  prefixXml,
  quotedTag,
  versionWriter,
  type ListedOwner,
  type OwnerOf,
} from './entries.ts'
import {
  writeToken,
  type ObjectsQuery,
  type ObjectsV2Query,
  type PartsQuery,
  type UploadsQuery,
  type VersionsQuery,
} from './parameters.ts'

/** One page; `next` is its last key or prefix when another page follows. */
export type ListPage<E> = {
  readonly bucket: string
  readonly entries: readonly E[]
  readonly prefixes: readonly string[]
  readonly next: string | undefined
}

const nonEmpty = (text: string): string | undefined => (text === '' ? undefined : text)
const optional = (text: string | undefined, write: (text: string) => string) =>
  text === undefined ? undefined : write(text)
const encodingXml = (encode: boolean): XmlNode => ['EncodingType', encode ? 'url' : undefined]

/** ListObjects. */
export function objectsXml(
  page: ListPage<ListedObject>,
  query: ObjectsQuery,
  ownerOf: OwnerOf,
): string {
  const name = nameWriter(query.encode)
  return writeXml('ListBucketResult', [
    ['Name', page.bucket],
    // SDKs decode every name of version 1 except this one.
    ['Prefix', query.prefix],
    ['Marker', name(query.marker)],
    ['NextMarker', optional(page.next, name)],
    ['MaxKeys', query.max],
    ['Delimiter', optional(nonEmpty(query.delimiter), name)],
    encodingXml(query.encode),
    ['IsTruncated', page.next !== undefined],
    ...page.entries.map(objectWriter(name, ownerOf)),
    ...page.prefixes.map((prefix) => prefixXml(prefix, name)),
  ])
}

/** ListObjectsV2. */
export function objectsV2Xml(
  page: ListPage<ListedObject>,
  query: ObjectsV2Query,
  ownerOf: OwnerOf,
): string {
  const name = nameWriter(query.encode)
  return writeXml('ListBucketResult', [
    ['Name', page.bucket],
    ['Prefix', name(query.prefix)],
    ['StartAfter', optional(nonEmpty(query.startAfter), name)],
    ['ContinuationToken', query.continuationToken],
    ['NextContinuationToken', optional(page.next, writeToken)],
    ['KeyCount', page.entries.length + page.prefixes.length],
    ['MaxKeys', query.max],
    ['Delimiter', optional(nonEmpty(query.delimiter), name)],
    encodingXml(query.encode),
    ['IsTruncated', page.next !== undefined],
    ...page.entries.map(objectWriter(name, query.fetchOwner ? ownerOf : undefined)),
    ...page.prefixes.map((prefix) => prefixXml(prefix, name)),
  ])
}

/** ListObjectVersions; `nextVersionId` is absent when the page ends with a common prefix. */
export function versionsXml(
  page: ListPage<VersionEntry> & { readonly nextVersionId: string | undefined },
  query: VersionsQuery,
  ownerOf: OwnerOf,
): string {
  const name = nameWriter(query.encode)
  return writeXml('ListVersionsResult', [
    ['Name', page.bucket],
    ['Prefix', name(query.prefix)],
    ['KeyMarker', name(query.keyMarker)],
    ['VersionIdMarker', query.versionIdMarker ?? ''],
    ['NextKeyMarker', optional(page.next, name)],
    ['NextVersionIdMarker', page.nextVersionId],
    ['MaxKeys', query.max],
    ['Delimiter', optional(nonEmpty(query.delimiter), name)],
    encodingXml(query.encode),
    ['IsTruncated', page.next !== undefined],
    ...page.entries.map(versionWriter(name, ownerOf)),
    ...page.prefixes.map((prefix) => prefixXml(prefix, name)),
  ])
}

export type UploadEntry = {
  readonly key: string
  readonly uploadId: string
  readonly initiatedMs: number
  readonly initiator: ListedOwner
  readonly owner: ListedOwner
  readonly storageClass: string
  readonly checksum?: { readonly algorithm: string; readonly type: string }
}

/** ListMultipartUploads. */
export function uploadsXml(
  page: ListPage<UploadEntry> & { readonly nextUploadId: string | undefined },
  query: UploadsQuery,
): string {
  const name = nameWriter(query.encode)
  return writeXml('ListMultipartUploadsResult', [
    ['Bucket', page.bucket],
    ['KeyMarker', name(query.keyMarker)],
    ['UploadIdMarker', query.uploadIdMarker],
    ['NextKeyMarker', optional(page.next, name)],
    ['NextUploadIdMarker', page.nextUploadId],
    ['Prefix', name(query.prefix)],
    ['Delimiter', optional(nonEmpty(query.delimiter), name)],
    ['MaxUploads', query.max],
    encodingXml(query.encode),
    ['IsTruncated', page.next !== undefined],
    ...page.entries.map((upload): XmlNode => [
      'Upload',
      [
        ['Key', name(upload.key)],
        ['UploadId', upload.uploadId],
        ownerXml('Initiator', upload.initiator),
        ownerXml('Owner', upload.owner),
        ['StorageClass', upload.storageClass],
        ['Initiated', isoTime(upload.initiatedMs)],
        ['ChecksumAlgorithm', upload.checksum?.algorithm],
        ['ChecksumType', upload.checksum?.type],
      ],
    ]),
    ...page.prefixes.map((prefix) => prefixXml(prefix, name)),
  ])
}

export type PartEntry = {
  readonly number: number
  readonly modifiedMs: number
  readonly etag: string
  readonly bytes: number
  /** Element name and base64. */
  readonly checksum?: { readonly element: string; readonly text: string }
}

export type PartsDocument = {
  readonly bucket: string
  readonly key: string
  readonly upload: Omit<UploadEntry, 'key' | 'initiatedMs'>
  readonly parts: readonly PartEntry[]
  readonly isTruncated: boolean
}

/** ListParts. */
export function partsXml(page: PartsDocument, query: PartsQuery): string {
  const { upload, parts } = page
  return writeXml('ListPartsResult', [
    ['Bucket', page.bucket],
    ['Key', nameWriter(query.encode)(page.key)],
    ['UploadId', upload.uploadId],
    ['PartNumberMarker', query.after],
    ['NextPartNumberMarker', parts.at(-1)?.number ?? 0],
    ['MaxParts', query.max],
    encodingXml(query.encode),
    ['IsTruncated', page.isTruncated],
    ownerXml('Initiator', upload.initiator),
    ownerXml('Owner', upload.owner),
    ['StorageClass', upload.storageClass],
    ['ChecksumAlgorithm', upload.checksum?.algorithm],
    ['ChecksumType', upload.checksum?.type],
    ...parts.map((part): XmlNode => [
      'Part',
      [
        ['PartNumber', part.number],
        ['LastModified', isoTime(part.modifiedMs)],
        ['ETag', quotedTag(part.etag)],
        ['Size', part.bytes],
        ...(part.checksum ? [[part.checksum.element, part.checksum.text] as const] : []),
      ],
    ]),
  ])
}

export type BucketEntry = {
  readonly name: string
  readonly createdMs: number
  readonly region: string
}

/** ListBuckets. */
export function bucketsXml(page: {
  readonly owner: ListedOwner
  readonly buckets: readonly BucketEntry[]
  readonly prefix: string
  readonly next: string | undefined
}): string {
  return writeXml('ListAllMyBucketsResult', [
    ownerXml('Owner', page.owner),
    [
      'Buckets',
      page.buckets.map(({ name, createdMs, region }): XmlNode => [
        'Bucket',
        [
          ['Name', name],
          ['CreationDate', isoTime(createdMs)],
          ['BucketRegion', region],
        ],
      ]),
    ],
    ['ContinuationToken', optional(page.next, writeToken)],
    ['Prefix', nonEmpty(page.prefix)],
  ])
}
