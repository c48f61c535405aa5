// Tag sets of objects and buckets, as XML and as the `x-amz-tagging` header (AWS, "Categorizing your objects using
// tags").
import type { Tags } from '#objects/types.ts'
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, xmlText } from '#s3/xml/fields.ts'
import { parseXml, type XmlElement } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'

const TAGS_MAX = { object: 10, bucket: 50 } as const
/** In characters. */
const NAME_MAX = 128
const VALUE_MAX = 256
const LETTERS = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u

type Owner = keyof typeof TAGS_MAX

/** Reads a `Tagging` document. Throws MalformedXML, InvalidTag, BadRequest (too many). */
export function parseTagging(body: Buffer, of: Owner): Tags {
  const { TagSet } = xmlFields(parseXml(body, 'Tagging'), { TagSet: 'one' })
  return parseTagSet(TagSet, of)
}

/** Reads an element of `Tag` elements. Throws MalformedXML, InvalidTag, BadRequest (too many). */
export function parseTagSet(element: XmlElement, of: Owner): Tags {
  const { Tag } = xmlFields(element, { Tag: 'many' })
  return checkTags(Tag.map(parseTag), of)
}

/** Name and value of a `Tag` element. Throws MalformedXML. */
export function parseTag(element: XmlElement): [name: string, value: string] {
  const { Key, Value } = xmlFields(element, { Key: 'one', Value: 'one' })
  return [xmlText(Key), xmlText(Value)]
}

/** Reads the header `x-amz-tagging`, a query string. Throws InvalidArgument, InvalidTag, BadRequest (too many). */
export function parseTaggingHeader(header: string): Tags {
  const pairs = header
    .split('&')
    .filter((part) => part !== '')
    .map((part): [string, string] => {
      const equals = part.indexOf('=')
      return equals < 0
        ? [decode(part), '']
        : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))]
    })
  if (new Set(pairs.map(([name]) => name)).size < pairs.length) throw badHeader()
  return checkTags(pairs, 'object')
}

/** The header for these tags. */
export const taggingHeader = (tags: Tags): string => new URLSearchParams(tags).toString()

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badHeader()
  }
}

const badHeader = () =>
  storageFault(
    'InvalidArgument',
    "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    { ArgumentName: 'x-amz-tagging' },
  )

function checkTags(pairs: readonly [string, string][], of: Owner): Tags {
  if (pairs.length > TAGS_MAX[of])
    throw storageFault(
      'BadRequest',
      `${of === 'object' ? 'Object' : 'Bucket'} tags cannot be greater than ${TAGS_MAX[of]}`,
    )
  const names = new Set<string>()
  for (const [name, value] of pairs) {
    if (name === '' || length(name) > NAME_MAX || !LETTERS.test(name))
      throw storageFault('InvalidTag', 'The TagKey you have provided is invalid', { TagKey: name })
    if (length(value) > VALUE_MAX || !LETTERS.test(value))
      throw storageFault('InvalidTag', 'The TagValue you have provided is invalid', {
        TagKey: name,
        TagValue: value,
      })
    if (/^aws:/i.test(name))
      throw storageFault('InvalidTag', 'System tags cannot be added/updated by requester')
    if (names.has(name))
      throw storageFault('InvalidTag', 'Cannot provide multiple Tags with the same key', {
        TagKey: name,
      })
    names.add(name)
  }
  return Object.fromEntries(pairs)
}

const length = (text: string) => Array.from(text).length

/** Printed in the order of names: stored tags have no order. */
export const printTagging = (tags: Tags): string =>
  writeXml('Tagging', [['TagSet', tagNodes(tags)]])

export const tagNodes = (tags: Tags): XmlNode[] =>
  Object.entries(tags)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]): XmlNode => [
      'Tag',
      [
        ['Key', name],
        ['Value', value],
      ],
    ])
