// The payer of a stranger's access: the owner of the requested bucket, never the owner of a bucket that a copy reads.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { S3_OPERATIONS } from '#contract/storage/s3-operations.ts'
import type { Bucket } from '#objects/types.ts'
import { createAccess } from './access.ts'
import type { StorageRequest } from '#s3/call.ts'
import { Judging } from './judging.ts'
import { parsePolicy } from './policy.ts'

function openBucket(name: string): Bucket {
  const Resource = `arn:aws:s3:::${name}/*`
  const Action = ['s3:GetObject', 's3:PutObject']
  const Statement = [{ Effect: 'Allow', Principal: '*', Action, Resource }]
  const policy = parsePolicy(JSON.stringify({ Version: '2012-10-17', Statement }), name)
  return { name, account: `acct_${name}`, configurations: { policy } } as unknown as Bucket
}

/** Access of a stranger to an object of `own`; `admitted` are the buckets whose owners pay. */
function createStranger() {
  const admitted: string[] = []
  const version = { owner: 'acct', acl: null, tags: {}, deleteMarker: false }
  const access = createAccess({
    buckets: { get: async (name: string) => openBucket(name) },
    objects: { find: async (name: string) => ({ bucket: openBucket(name), found: { version } }) },
    clock: systemClock,
    admitTransfer: async (_request: unknown, bucket: Bucket) => void admitted.push(bucket.name),
  } as unknown as Parameters<typeof createAccess>[0])
  const request = {
    caller: undefined,
    body: {
      headers: {},
      trace: {},
      judging: new Judging(),
      client: { address: '127.0.0.1', isSecure: false },
      match: { action: 's3:PutObject', row: S3_OPERATIONS['put-object'] },
      target: { bucket: 'own', key: 'key', query: new URLSearchParams() },
    },
  } as unknown as StorageRequest
  return { access, request, admitted }
}

test('a stranger is admitted at the expense of the bucket that he asks', async () => {
  const { access, request, admitted } = createStranger()
  await access.bucket(request)
  await access.version(request)
  assert.deepEqual(admitted, ['own', 'own'])
})

test('the source of a copy admits nobody', async () => {
  const { access, request, admitted } = createStranger()
  const { bucket } = await access.source(request, {
    bucket: 'other',
    key: 'key',
    versionId: undefined,
  })
  assert.equal(bucket.name, 'other')
  assert.deepEqual(admitted, [])
})

test('each bucket of a copy is of the account that the header of that one says', async () => {
  const from = { bucket: 'other', key: 'key', versionId: undefined }
  const copy = async (headers: Record<string, string>) => {
    const { access, request } = createStranger()
    Object.assign(request.body.headers, headers)
    await access.bucket(request)
    await access.source(request, from)
  }
  const [own, source] = ['x-amz-expected-bucket-owner', 'x-amz-source-expected-bucket-owner']
  await copy({ [own]: 'acct_own', [source]: 'acct_other' })
  for (const wrong of [{ [own]: 'acct_other' }, { [source]: 'acct_own' }, { [source]: '' }])
    await assert.rejects(copy(wrong), { code: 'AccessDenied' }, JSON.stringify(wrong))
})
