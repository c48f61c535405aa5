// The website configuration of a bucket.
import type { Configuration } from '#s3/buckets/configuration.ts'
import { parseWebsite, printWebsite, type Website } from './website.ts'

export const WEBSITE: Configuration = {
  kind: 'website',
  absent: 'NoSuchWebsiteConfiguration',
  parse: parseWebsite,
  print: (value: Website) => printWebsite(value),
  bytesMax: 128 * 1024,
}
