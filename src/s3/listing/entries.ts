// The entries of listings, as data and as XML.
import {
  elementText,
  escapeXml,
  isoTime,
  urlEncoded,
  XmlText,
  type XmlNode,
} from '#s3/xml/write.ts'

export type ListedOwner = { readonly id: string; readonly displayName: string }
/** The owner in listings for an account. */
export type OwnerOf = (account: string) => ListedOwner

export const ownerXml = (name: 'Owner' | 'Initiator', owner: ListedOwner | undefined): XmlNode => [
  name,
  owner && [
    ['ID', owner.id],
    ['DisplayName', owner.displayName],
  ],
]

export type ObjectEntry = {
  readonly key: string
  readonly modifiedMs: number
  /** Without quotes. */
  readonly etag: string
  readonly bytes: number
  readonly storageClass: string
  readonly checksum?: { readonly algorithm: string; readonly type: string } | undefined
  readonly owner?: ListedOwner | undefined
}

export type VersionEntry = {
  readonly key: string
  readonly versionId: string
  readonly isLatest: boolean
  readonly modifiedMs: number
  readonly owner: ListedOwner
  /** Absent for delete markers. */
  readonly object?: Omit<ObjectEntry, 'key' | 'modifiedMs' | 'owner'>
}

/** Encodes names if the client asked for it. */
export type NameWriter = (name: string) => string
export const nameWriter = (encode: boolean): NameWriter => (encode ? urlEncoded : (name) => name)

export const quotedTag = (etag: string): string => `"${etag}"`

function bodyXml(object: Omit<ObjectEntry, 'key' | 'modifiedMs'>): XmlNode[] {
  return [
    ['ETag', quotedTag(object.etag)],
    ['ChecksumAlgorithm', object.checksum?.algorithm],
    ['ChecksumType', object.checksum?.type],
    ['Size', object.bytes],
    ['StorageClass', object.storageClass],
  ]
}

/** Written as text: as a tree of nodes a page of 1000 took 5.5 ms instead of 2.1. */
export function objectXml(object: ObjectEntry, name: NameWriter): XmlText {
  const { key, modifiedMs, etag, bytes, storageClass, checksum, owner } = object
  const sum =
    checksum === undefined
      ? ''
      : `<ChecksumAlgorithm>${escapeXml(checksum.algorithm)}</ChecksumAlgorithm><ChecksumType>${escapeXml(checksum.type)}</ChecksumType>`
  return new XmlText(
    `<Contents><Key>${escapeXml(name(key))}</Key><LastModified>${isoTime(modifiedMs)}</LastModified><ETag>&quot;${escapeXml(etag)}&quot;</ETag>${sum}<Size>${bytes}</Size><StorageClass>${escapeXml(storageClass)}</StorageClass>${elementText(ownerXml('Owner', owner))}</Contents>`,
  )
}

export const versionXml = (version: VersionEntry, name: NameWriter): XmlNode => [
  version.object === undefined ? 'DeleteMarker' : 'Version',
  [
    ['Key', name(version.key)],
    ['VersionId', version.versionId],
    ['IsLatest', version.isLatest],
    ['LastModified', isoTime(version.modifiedMs)],
    ...(version.object === undefined ? [] : bodyXml(version.object)),
    ownerXml('Owner', version.owner),
  ],
]

export const prefixXml = (prefix: string, name: NameWriter): XmlNode => [
  'CommonPrefixes',
  [['Prefix', name(prefix)]],
]
