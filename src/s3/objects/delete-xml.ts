// The document and the reply of DeleteObjects.
import { checkKey } from '#s3/target.ts'
import { xmlBoolean, xmlFields, integerOf, optionalText, xmlText, timeOf } from '#s3/xml/fields.ts'
import { malformedXml, parseXml } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'
import { bareTag, type DeleteConditions } from './conditions.ts'

/** The most keys of one request (AWS). */
const KEYS_MAX = 1000

export type DeleteTarget = {
  readonly key: string
  readonly versionId: string | undefined
  readonly conditions: DeleteConditions
}

export type DeleteRequest = { readonly quiet: boolean; readonly targets: readonly DeleteTarget[] }

const OBJECT = {
  Key: 'one',
  VersionId: 'optional',
  ETag: 'optional',
  LastModifiedTime: 'optional',
  Size: 'optional',
} as const

/** Throws MalformedXML (also above 1,000 keys), KeyTooLongError, InvalidArgument. */
export function parseDelete(bytes: Buffer): DeleteRequest {
  const { Object: objects, Quiet } = xmlFields(parseXml(bytes, 'Delete'), {
    Object: 'many',
    Quiet: 'optional',
  })
  if (objects.length === 0) throw malformedXml('There is no key to delete')
  if (objects.length > KEYS_MAX) throw malformedXml(`There are more than ${KEYS_MAX} keys`)
  const targets = objects.map((object): DeleteTarget => {
    const { Key, VersionId, ETag, LastModifiedTime, Size } = xmlFields(object, OBJECT)
    const key = xmlText(Key)
    if (key === '') throw malformedXml('A key is empty')
    checkKey(key)
    const conditions = {
      etag: ETag && bareTag(xmlText(ETag)),
      modifiedMs: LastModifiedTime && timeOf(LastModifiedTime),
      bytes: Size && integerOf(Size),
    }
    return { key, versionId: optionalText(VersionId) || undefined, conditions }
  })
  return { quiet: Quiet !== undefined && xmlBoolean(Quiet), targets }
}

export type DeletedEntry = {
  readonly key: string
  /** The version that the request named. */
  readonly versionId?: string
  /** The delete marker that was created or removed. */
  readonly marker?: { readonly versionId: string }
}
export type NotDeleted = {
  readonly key: string
  readonly versionId?: string
  readonly code: string
  readonly message: string
}

/** The reply; a quiet reply names only failures. */
export function deletedXml(
  deleted: readonly DeletedEntry[],
  failed: readonly NotDeleted[],
  quiet: boolean,
): string {
  return writeXml('DeleteResult', [
    ...(quiet ? [] : deleted).map(({ key, versionId, marker }): XmlNode => [
      'Deleted',
      [
        ['Key', key],
        ['VersionId', versionId],
        ['DeleteMarker', marker && true],
        ['DeleteMarkerVersionId', marker?.versionId],
      ],
    ]),
    ...failed.map(({ key, versionId, code, message }): XmlNode => [
      'Error',
      [
        ['Key', key],
        ['VersionId', versionId],
        ['Code', code],
        ['Message', message],
      ],
    ]),
  ])
}
