// The entries of listings, as data and as XML.
import type { ListedObject, ListedTraits, VersionEntry } from '#objects/objects.ts'
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

/** Encodes names if the client asked for it. */
export type NameWriter = (name: string) => string
export const nameWriter = (encode: boolean): NameWriter => (encode ? urlEncoded : (name) => name)

export const quotedTag = (etag: string): string => `"${etag}"`

/**
 * Writes the objects of a page; without `ownerOf` they have no owner. As a tree of nodes a page of 1000 took 5.5 ms
 * instead of 2.1. The traits that neighbours share are written once.
 */
export function objectWriter(
  name: NameWriter,
  ownerOf: OwnerOf | undefined,
): (object: ListedObject) => XmlText {
  const templateOf = templates(ownerOf)
  return ({ key, modifiedAtMs, etag, size, traits }) => {
    const { beforeSize, afterSize } = templateOf(traits)
    return new XmlText(
      `<Contents><Key>${escapeXml(name(key))}</Key><LastModified>${isoTime(modifiedAtMs)}</LastModified><ETag>&quot;${escapeXml(etag)}${beforeSize}${size}${afterSize}</Contents>`,
    )
  }
}

/** Texts of traits; neighbours that share them have the same. */
function templates(ownerOf: OwnerOf | undefined): (traits: ListedTraits) => TraitsText {
  let last: ListedTraits | undefined
  let text: TraitsText = { beforeSize: '', afterSize: '', ownerText: '' }
  return (traits) => {
    if (traits !== last) text = traitsXml((last = traits), ownerOf)
    return text
  }
}

type TraitsText = ReturnType<typeof traitsXml>

/** The text between ETag and size of an object, and the text after the size. */
function traitsXml({ storageClass, checksum, owner }: ListedTraits, ownerOf: OwnerOf | undefined) {
  const sum = [
    elementText(['ChecksumAlgorithm', checksum?.algorithm]),
    elementText(['ChecksumType', checksum?.type]),
  ].join('')
  const ownerText = elementText(ownerXml('Owner', ownerOf?.(owner)))
  return {
    beforeSize: `&quot;</ETag>${sum}<Size>`,
    afterSize: `</Size>${elementText(['StorageClass', storageClass])}${ownerText}`,
    ownerText,
  }
}

/** Writes the versions of a page. */
export function versionWriter(name: NameWriter, ownerOf: OwnerOf): (one: VersionEntry) => XmlText {
  const templateOf = templates(ownerOf)
  return ({ key, versionId, isLatest, deleteMarker, modifiedAtMs, etag, size, traits }) => {
    const { beforeSize, afterSize, ownerText } = templateOf(traits)
    const head = `<Key>${escapeXml(name(key))}</Key><VersionId>${escapeXml(versionId)}</VersionId><IsLatest>${isLatest}</IsLatest><LastModified>${isoTime(modifiedAtMs)}</LastModified>`
    return new XmlText(
      deleteMarker
        ? `<DeleteMarker>${head}${ownerText}</DeleteMarker>`
        : `<Version>${head}<ETag>&quot;${escapeXml(etag)}${beforeSize}${size}${afterSize}</Version>`,
    )
  }
}

export const prefixXml = (prefix: string, name: NameWriter): XmlText =>
  new XmlText(`<CommonPrefixes><Prefix>${escapeXml(name(prefix))}</Prefix></CommonPrefixes>`)
