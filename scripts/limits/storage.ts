// Limits: object storage.
import * as http from '#http/limits.ts'
import { PART_COUNT_MAX, PART_SIZE_MIN } from '#objects/create-uploads.ts'
import { UPLOAD_BYTES_MAX } from '#s3/body/plan.ts'
import { METADATA_BYTES_MAX } from '#s3/objects/headers.ts'
import { KEY_BYTES_MAX } from '#s3/target.ts'
import { XML_BYTES_MAX } from '#s3/xml/read.ts'
import { bytes, count, seconds, words, type Beyond, type LimitSection } from './limit.ts'

const s3 = (status: number, name: string): Beyond => words(`${status} \`${name}\``)

export const STORAGE: LimitSection = {
  title: 'Object storage',
  intro: 'As at AWS, in S3’s own codes.',
  limits: [
    ['body of one PUT or one part', bytes(UPLOAD_BYTES_MAX), s3(400, 'EntityTooLarge')],
    ['parts of an upload', count(PART_COUNT_MAX), s3(400, 'InvalidArgument')],
    ['least size of a part that is not the last', bytes(PART_SIZE_MIN), s3(400, 'EntityTooSmall')],
    ['key', bytes(KEY_BYTES_MAX), s3(400, 'KeyTooLongError')],
    ['user metadata', bytes(METADATA_BYTES_MAX), s3(400, 'MetadataTooLarge')],
    ['an XML document', bytes(XML_BYTES_MAX), s3(400, 'MaxMessageLengthExceeded')],
    [
      'time for an object, in or out',
      seconds(http.TRANSFER_DEADLINE_MS),
      words('it is broken off'),
    ],
  ],
}
