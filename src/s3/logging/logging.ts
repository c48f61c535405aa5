// The access logging configuration of a bucket, and the keys of its log objects (AWS, "Logging requests with server
// access logging").
import { storageFault } from '#contract/storage/storage-errors.ts'
import { xmlFields, xmlText, wordOf } from '#s3/xml/fields.ts'
import { malformedXml, parseXml, type XmlElement } from '#s3/xml/read.ts'
import { writeXml, type XmlNode } from '#s3/xml/write.ts'

/** In bytes: prefix and name of a log object together are a key. */
const PREFIX_MAX = 512
const DATE_SOURCES = ['EventTime', 'DeliveryTime'] as const

export type Logging = {
  readonly bucket: string
  readonly prefix: string
  /** `partitioned`: folders by account, region, bucket and day of the named time. */
  readonly format: 'simple' | { readonly partitioned: (typeof DATE_SOURCES)[number] }
}

/**
 * Reads a `BucketLoggingStatus`; undefined turns logging off. The caller checks the target bucket. Throws
 * MalformedXML, InvalidArgument, NotImplemented (grants: logs belong to the owner of their bucket).
 */
export function parseLogging(body: Buffer): Logging | undefined {
  const { LoggingEnabled } = xmlFields(parseXml(body, 'BucketLoggingStatus'), {
    LoggingEnabled: 'optional',
  })
  if (LoggingEnabled === undefined) return undefined
  const found = xmlFields(LoggingEnabled, {
    TargetBucket: 'one',
    TargetPrefix: 'one',
    TargetGrants: 'optional',
    TargetObjectKeyFormat: 'optional',
  })
  if ((found.TargetGrants?.children.length ?? 0) > 0)
    throw storageFault('NotImplemented', 'TargetGrants are not implemented')
  const prefix = xmlText(found.TargetPrefix)
  if (Buffer.byteLength(prefix) > PREFIX_MAX)
    throw storageFault('InvalidArgument', `The TargetPrefix is longer than ${PREFIX_MAX} bytes`)
  return {
    bucket: xmlText(found.TargetBucket).trim(),
    prefix,
    format:
      found.TargetObjectKeyFormat === undefined
        ? 'simple'
        : parseFormat(found.TargetObjectKeyFormat),
  }
}

function parseFormat(element: XmlElement): Logging['format'] {
  const { SimplePrefix, PartitionedPrefix } = xmlFields(element, {
    SimplePrefix: 'optional',
    PartitionedPrefix: 'optional',
  })
  if ((SimplePrefix === undefined) === (PartitionedPrefix === undefined))
    throw malformedXml('TargetObjectKeyFormat has not one of its two forms')
  if (PartitionedPrefix === undefined) return 'simple'
  const { PartitionDateSource } = xmlFields(PartitionedPrefix, { PartitionDateSource: 'one' })
  return { partitioned: wordOf(PartitionDateSource, DATE_SOURCES) }
}

/** Without a configuration the document is empty. */
export function printLogging(logging: Logging | undefined): string {
  if (logging === undefined) return writeXml('BucketLoggingStatus', [])
  const format: XmlNode =
    logging.format === 'simple'
      ? ['SimplePrefix', []]
      : ['PartitionedPrefix', [['PartitionDateSource', logging.format.partitioned]]]
  return writeXml('BucketLoggingStatus', [
    [
      'LoggingEnabled',
      [
        ['TargetBucket', logging.bucket],
        ['TargetPrefix', logging.prefix],
        ['TargetObjectKeyFormat', [format]],
      ],
    ],
  ])
}

type LogPlace = {
  readonly account: string
  readonly region: string
  readonly sourceBucket: string
  readonly eventTimeMs: number
  readonly deliveryTimeMs: number
  /** 16 hex digits, so that two batches of a second have different keys. */
  readonly unique: string
}

/** The key of the object that a batch of log lines becomes. */
export function logKey({ prefix, format }: Logging, batch: LogPlace): string {
  const isByDay = format !== 'simple'
  const timeMs =
    isByDay && format.partitioned === 'EventTime' ? batch.eventTimeMs : batch.deliveryTimeMs
  const [day = '', time = ''] = new Date(timeMs).toISOString().split('T')
  const clock = time.slice(0, 8).replaceAll(':', '-')
  const folders = isByDay
    ? `${batch.account}/${batch.region}/${batch.sourceBucket}/${day.replaceAll('-', '/')}/`
    : ''
  return `${prefix}${folders}${day}-${clock}-${batch.unique}`
}
