// The lifecycle configuration of a bucket.
import { randomUUID } from 'node:crypto'
import type { Lifecycle } from '#objects/lifecycle/rules.ts'
import type { Configuration } from '#s3/buckets/configuration.ts'
import { XML_BYTES_MAX } from '#s3/xml/read.ts'
import { parseLifecycle, printLifecycle } from './lifecycle.ts'

export const LIFECYCLE: Configuration = {
  kind: 'lifecycle',
  absent: 'NoSuchLifecycleConfiguration',
  parse: (body) => parseLifecycle(body, randomUUID),
  print: (value: Lifecycle) => printLifecycle(value),
  // A thousand rules, each with an id and a prefix.
  bytesMax: XML_BYTES_MAX,
}
