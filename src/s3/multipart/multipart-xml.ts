// Bodies and replies of multipart uploads and copies.
import { storageFault } from '#contract/storage/storage-errors.ts'
import { ALGORITHMS, CHECKSUMS, type ChecksumAlgorithm } from '#s3/checksums/algorithms.ts'
import { quotedTag } from '#s3/listing/entries.ts'
import { xmlFields, integerOf, optionalText, xmlText } from '#s3/xml/fields.ts'
import { malformedXml, parseXml } from '#s3/xml/read.ts'
import { isoTime, writeXml, type XmlNode } from '#s3/xml/write.ts'
import { bareTag } from '#s3/objects/conditions.ts'

export const UPLOAD_PARTS_MAX = 10_000

export type ChecksumText = { readonly algorithm: ChecksumAlgorithm; readonly text: string }

export type CompletedPart = {
  readonly number: number
  readonly etag: string
  readonly checksum: ChecksumText | undefined
}

const PART = {
  PartNumber: 'one',
  ETag: 'one',
  ...Object.fromEntries(ALGORITHMS.map((name) => [CHECKSUMS[name].element, 'optional' as const])),
} as const satisfies Record<string, 'one' | 'optional'>

/**
 * The parts of CompleteMultipartUpload in their order. Throws MalformedXML (none, more than 10,000),
 * InvalidPartOrder.
 */
export function parseComplete(bytes: Buffer): CompletedPart[] {
  const root = xmlFields(parseXml(bytes, 'CompleteMultipartUpload'), { Part: 'many' })
  if (root.Part.length === 0) throw malformedXml('There are no parts')
  if (root.Part.length > UPLOAD_PARTS_MAX)
    throw malformedXml(`There are more than ${UPLOAD_PARTS_MAX} parts`)
  const parts = root.Part.map((element): CompletedPart => {
    const fields = xmlFields(element, PART)
    const given = ALGORITHMS.map((algorithm) => ({
      algorithm,
      text: optionalText(
        (fields as Record<string, typeof fields.ETag>)[CHECKSUMS[algorithm].element],
      ),
    }))
    const checksum = given.find((one): one is ChecksumText => one.text !== undefined)
    return {
      number: integerOf(fields.PartNumber, 1, UPLOAD_PARTS_MAX),
      etag: bareTag(xmlText(fields.ETag)),
      checksum,
    }
  })
  for (const [index, { number }] of parts.entries())
    if (index > 0 && number <= (parts[index - 1]?.number ?? 0))
      throw storageFault('InvalidPartOrder')
  return parts
}

/** `partNumber` of an upload. Throws InvalidArgument. */
export function parsePartNumber(text: string | undefined): number {
  const number = /^\d{1,5}$/.test(text ?? '') ? Number(text) : 0
  if (number >= 1 && number <= UPLOAD_PARTS_MAX) return number
  throw storageFault(
    'InvalidArgument',
    `Part number must be an integer between 1 and ${UPLOAD_PARTS_MAX}, inclusive`,
    { ArgumentName: 'partNumber', ArgumentValue: text ?? '' },
  )
}

/** CreateMultipartUpload. */
export const initiatedXml = (upload: {
  readonly bucket: string
  readonly key: string
  readonly uploadId: string
}): string =>
  writeXml('InitiateMultipartUploadResult', [
    ['Bucket', upload.bucket],
    ['Key', upload.key],
    ['UploadId', upload.uploadId],
  ])

const checksumXml = (checksum: ChecksumText | undefined): XmlNode[] =>
  checksum === undefined ? [] : [[CHECKSUMS[checksum.algorithm].element, checksum.text]]

/** CompleteMultipartUpload. */
export const completedXml = (object: {
  readonly location: string
  readonly bucket: string
  readonly key: string
  readonly etag: string
  readonly checksum?: ChecksumText & { readonly type: string }
}): string =>
  writeXml('CompleteMultipartUploadResult', [
    ['Location', object.location],
    ['Bucket', object.bucket],
    ['Key', object.key],
    ['ETag', quotedTag(object.etag)],
    ...checksumXml(object.checksum),
    ['ChecksumType', object.checksum?.type],
  ])

/** CopyObject and UploadPartCopy. */
export const copiedXml = (
  root: 'CopyObjectResult' | 'CopyPartResult',
  object: {
    readonly etag: string
    readonly modifiedMs: number
    readonly checksum?: ChecksumText & { readonly type?: string }
  },
): string =>
  writeXml(root, [
    ['ETag', quotedTag(object.etag)],
    ['LastModified', isoTime(object.modifiedMs)],
    ...checksumXml(object.checksum),
    ['ChecksumType', object.checksum?.type],
  ])
