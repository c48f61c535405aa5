// The entries of listings, as data and as XML.
import type { ListedObject, ListedTraits } from '#objects/objects.ts'
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

export type ListedBody = {
  /** Without quotes. */
  readonly etag: string
  readonly bytes: number
  readonly storageClass: string
  readonly checksum?: { readonly algorithm: string; readonly type: string } | undefined
}

export type VersionEntry = {
  readonly key: string
  readonly versionId: string
  readonly isLatest: boolean
  readonly modifiedMs: number
  readonly owner: ListedOwner
  /** Absent for delete markers. */
  readonly object?: ListedBody
}

/** Encodes names if the client asked for it. */
export type NameWriter = (name: string) => string
export const nameWriter = (encode: boolean): NameWriter => (encode ? urlEncoded : (name) => name)

export const quotedTag = (etag: string): string => `"${etag}"`

function bodyXml(object: ListedBody): XmlNode[] {
  return [
    ['ETag', quotedTag(object.etag)],
    ['ChecksumAlgorithm', object.checksum?.algorithm],
    ['ChecksumType', object.checksum?.type],
    ['Size', object.bytes],
    ['StorageClass', object.storageClass],
  ]
}

/**
 * Writes the objects of a page; without `ownerOf` they have no owner. As a tree of nodes a page of 1000 took 5.5 ms
 * instead of 2.1. The traits that neighbours share are written once.
 */
export function objectWriter(
  name: NameWriter,
  ownerOf: OwnerOf | undefined,
): (object: ListedObject) => XmlText {
  let last: ListedTraits | undefined
  let template = { beforeSize: '', afterSize: '' }
  return ({ key, modifiedAtMs, etag, size, traits }) => {
    if (traits !== last) template = traitsXml((last = traits), ownerOf)
    const { beforeSize, afterSize } = template
    return new XmlText(
      `<Contents><Key>${escapeXml(name(key))}</Key><LastModified>${isoTime(modifiedAtMs)}</LastModified><ETag>&quot;${escapeXml(etag)}${beforeSize}${size}${afterSize}`,
    )
  }
}

/** The text between ETag and size of an object, and the text after the size. */
function traitsXml({ storageClass, checksum, owner }: ListedTraits, ownerOf: OwnerOf | undefined) {
  const sum = [
    elementText(['ChecksumAlgorithm', checksum?.algorithm]),
    elementText(['ChecksumType', checksum?.type]),
  ].join('')
  const rest = [
    elementText(['StorageClass', storageClass]),
    elementText(ownerXml('Owner', ownerOf?.(owner))),
  ].join('')
  return { beforeSize: `&quot;</ETag>${sum}<Size>`, afterSize: `</Size>${rest}</Contents>` }
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
