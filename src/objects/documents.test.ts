// The configurations of buckets, kept: read once for an edition, and never older than the request.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { systemClock } from '#base/clock.ts'
import type { Queryable } from '#state/connect.ts'
import { createBuckets } from './create-buckets.ts'
import { createObjects } from './create-objects.ts'
import { createDocuments } from './documents.ts'
import { inlineObject, makeBucket, withStore, type Store } from './store.fixture.ts'

const skip = whyNoState()
let store: Store
withStore(4, (opened) => (store = opened))

/** Another gateway, and how often it read configurations. */
function openGateway(keptBytesMax?: number) {
  let reads = 0
  const state: Queryable = {
    query(text, values) {
      if (String(text).includes('configurations::text')) reads++
      return store.state.query(text, values)
    },
  }
  const documents = createDocuments({ state }, keptBytesMax)
  return {
    buckets: createBuckets({
      state,
      finds: state,
      documents,
      clock: systemClock,
      bucketsMax: 10,
    }),
    objects: createObjects({ state, finds: state, puts: state, documents, clock: systemClock }),
    reads: () => reads,
  }
}

test('configurations are read once, and again when they have changed', { skip }, async () => {
  const bucket = await makeBucket(store, 'documents-once')
  await store.objects.put(bucket, 'k', inlineObject('text'))
  const gateway = openGateway()
  const seen = async () => (await gateway.objects.find(bucket.name, { key: 'k' })).bucket
  const many = await Promise.all(Array.from({ length: 20 }, seen))
  assert.ok(many.every(({ configurations }) => Object.keys(configurations).length === 0))
  assert.equal(gateway.reads(), 1, 'those who ask at once read once')
  await store.buckets.configure(bucket, 'tagging', { a: 'b' })
  assert.deepEqual((await seen()).configurations, { tagging: { a: 'b' } })
  assert.deepEqual((await gateway.buckets.get(bucket.name)).configurations, { tagging: { a: 'b' } })
  assert.equal(gateway.reads(), 2)
  await store.buckets.setVersioning(bucket, 'enabled')
  assert.equal((await seen()).versioning, 'enabled')
  assert.equal(gateway.reads(), 2, 'they have not changed')
  await store.buckets.configure(bucket, 'tagging', null)
  assert.deepEqual((await seen()).configurations, {})
  await store.objects.delete(bucket, [{ key: 'k' }], { bypassGovernance: false })
})

test('a bucket that has the name of a deleted one has its own', { skip }, async () => {
  const gateway = openGateway()
  const first = await makeBucket(store, 'documents-again')
  await store.buckets.configure(first, 'policy', { of: 'the first' })
  assert.deepEqual((await gateway.buckets.get(first.name)).configurations, {
    policy: { of: 'the first' },
  })
  await store.buckets.delete(first)
  await assert.rejects(gateway.buckets.get(first.name), { code: 'NoSuchBucket' })
  const second = await makeBucket(store, 'documents-again')
  await store.buckets.configure(second, 'policy', { of: 'the second' })
  assert.deepEqual((await gateway.buckets.get(second.name)).configurations, {
    policy: { of: 'the second' },
  })
})

test('kept documents have a limit: the least recently used one goes', { skip }, async () => {
  const gateway = openGateway(10_000)
  const names = ['documents-a', 'documents-b', 'documents-c']
  for (const name of names) {
    const bucket = await makeBucket(store, name)
    await store.buckets.configure(bucket, 'tagging', { text: 'x'.repeat(4000) })
  }
  const get = async (...wanted: string[]) => {
    for (const name of wanted) await gateway.buckets.get(name)
    return gateway.reads()
  }
  const [a = '', b = '', c = ''] = names
  assert.equal(await get(a, b, a), 2)
  assert.equal(await get(c, a), 3, 'a was used later than b')
  assert.equal(await get(b), 4)
  const large = await makeBucket(store, 'documents-large')
  await store.buckets.configure(large, 'tagging', { text: 'x'.repeat(20_000) })
  assert.equal(await get(large.name, large.name), 6, 'too large to keep')
  assert.equal(await get(b), 6, 'and it drives nothing out')
})
