// The CORS configuration of a bucket.
import type { Configuration } from '#s3/buckets/configuration.ts'
import { parseCors, printCors, type Cors } from './cors.ts'

export const CORS: Configuration = {
  kind: 'cors',
  absent: 'NoSuchCORSConfiguration',
  parse: parseCors,
  print: (value: Cors) => printCors(value),
  bytesMax: 64 * 1024,
}
