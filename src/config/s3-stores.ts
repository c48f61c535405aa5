// The S3 stores that have an address and a key of their own, as one setting: a JSON list.
import { z } from 'zod'
import { Secret } from '#base/log.ts'
import { jsonList } from './json-list.ts'

/** Where a store is; `fs` is none. */
export const S3_ADDRESS = /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/[\w.-]{1,200}){0,4}$/
export const s3Endpoint = z.url({ protocol: /^https?$/ })
export const s3Region = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/i, 'must be letters, digits, dots and dashes')
export const s3Key = z
  .string()
  .regex(/^[^:\s]+:\S+$/, 'must be access:secret')
  .transform((text) => new Secret(text))

const STORES_MAX = 100

const store = z.strictObject({
  store: z.string().regex(S3_ADDRESS, 'must be s3://bucket/prefix without a slash at its end'),
  /** Absent: AWS in the region. */
  endpoint: s3Endpoint.optional(),
  region: s3Region.default('us-east-1'),
  key: s3Key,
})

export const s3Stores = jsonList
  .pipe(z.array(store).max(STORES_MAX))
  .refine((stores) => new Set(stores.map(({ store: name }) => name)).size === stores.length, {
    message: 'names a store twice',
  })
