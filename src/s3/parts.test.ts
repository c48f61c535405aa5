// The parts of S3 on a state in which no page can be read.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { Secret } from '#base/log.ts'
import type { Bucket } from '#objects/types.ts'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { createParts, type StorageOptions } from './parts.ts'

test('the parts of S3 say that a page cannot be read, and name the bucket and the key to the operator', async () => {
  const raised: { readonly bucket?: unknown; readonly key?: unknown }[] = []
  const query: Queryable['query'] = async (text, values) => {
    if (!text.includes('raise_alarm'))
      throw new ServerError('invalid page in block 7', 'XX001', false)
    raised.push(JSON.parse(String(values?.[1])))
    return { rows: [], rowCount: 0 }
  }
  const state = { query }
  const parts = createParts({
    state,
    finds: state,
    puts: state,
    lists: state,
    blobs: { byLocation: new Map(), target: {}, local: {} },
    secret: new Secret('s'),
    clock: systemClock,
    log: quiet,
    settings: { keyIds: [], bucketsMax: 1 },
  } as unknown as StorageOptions)
  const bucket = { id: 7, name: 'b' } as Bucket
  const blob = { id: '00000000-0000-4000-8000-000000000000', location: 'fs', size: 3 }
  const part = { number: 1, size: 3, etag: '', checksums: {}, encryption: null, blob }
  const stored = {
    bucket,
    version: { key: 'k', versionId: 'v', size: 3, etag: '', partCount: 0 },
    body: { kind: 'parts', parts: [part] },
  } as const
  const { signal } = new AbortController()
  const asked = {
    bucket: () => parts.buckets.get('b'),
    configuration: () => parts.buckets.configure(bucket, 'policy', null),
    events: () => parts.events.list(bucket, { after: '', limit: 1 }),
    object: () => parts.objects.find('b', { key: 'k' }),
    checksum: () => parts.blobs.read(stored, { signal })[Symbol.asyncIterator]().next(),
  }
  for (const [name, answer] of Object.entries(asked))
    await assert.rejects(answer(), { code: 'page_damaged' }, name)
  assert.deepEqual(
    raised.map(({ bucket: of, key }) => [of, key]),
    [
      ['b', undefined],
      [7, undefined],
      [7, undefined],
      ['b', 'k'],
      [undefined, undefined],
    ],
  )
})
