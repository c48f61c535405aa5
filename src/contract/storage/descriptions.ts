// Requests and replies of the routed operations of storage.
import { json, ok, type Descriptions } from '#contract/description.ts'
import { presignReply, presignRequest } from './presign.ts'
import { storedBuckets, storedBucketsQuery } from './storage-buckets.ts'
import type { STORAGE } from './operations.ts'

export const STORAGE_DESCRIPTIONS: Descriptions<typeof STORAGE> = {
  'storage.buckets': {
    summary: 'The buckets of the account by name, with the bytes that are stored in each',
    query: storedBucketsQuery,
    replies: ok('The buckets', json(storedBuckets)),
  },
  'presign.create': {
    // Every token may read; an address to write by needs more.
    refusals: ['scope_missing'],
    summary: 'An address for one object and method, signed with a key of its own, never the token',
    request: presignRequest,
    replies: ok('The address, until it expires or the token is revoked', json(presignReply)),
  },
}
