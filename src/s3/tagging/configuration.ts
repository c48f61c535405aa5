// The tags of a bucket.
import type { Tags } from '#objects/types.ts'
import type { Configuration } from '#s3/buckets/configuration.ts'
import { parseTagging, printTagging } from './tagging.ts'

export const BUCKET_TAGGING: Configuration = {
  kind: 'tagging',
  absent: 'NoSuchTagSet',
  parse: (body) => parseTagging(body, 'bucket'),
  print: (value: Tags) => printTagging(value),
  putStatus: 204,
}
