// Object storage: its S3 operations, and addresses that are signed for one object.
import { type Operation, ownView, withoutModel, backgroundWork } from '#contract/operation.ts'
import { defineProduct } from '#contract/product.ts'
import { STORAGE_OPERATIONS } from './s3-operations.ts'

/** The S3 protocol binds them by method and subresource. */
const S3_OPERATIONS = Object.fromEntries(
  Object.entries(STORAGE_OPERATIONS).map(([name, operation]) => [
    name,
    { ...operation, unrouted: true },
  ]),
) as { readonly [Name in keyof typeof STORAGE_OPERATIONS]: Operation & { readonly unrouted: true } }

export const STORAGE = defineProduct({
  operations: {
    ...S3_OPERATIONS,
    'storage.buckets': { ...ownView, service: 'storage', remembered: true },
    'presign.create': { ...withoutModel, service: 'storage', scope: 'read', remembered: true },
    /** No request: lines of an access log become an object. */
    'storage.log-delivery': backgroundWork('storage'),
    /** No request: what a bucket stored for a minute. */
    'storage.standing': backgroundWork('storage'),
  },
  routes: [
    {
      method: 'GET',
      path: '/v1/storage/buckets',
      operation: 'storage.buckets',
      query: ['limit', 'cursor'],
    },
    { method: 'POST', path: '/v1/storage/presigned', operation: 'presign.create', query: [] },
  ],
})
