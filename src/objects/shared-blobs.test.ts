// Blobs that copies share: transactions that count them at the same time wait, and do nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { createObjects } from './create-objects.ts'
import {
  askedOnce,
  brokenRules,
  makeBucket,
  partsObject,
  readVersion,
  withStore,
  type Store,
} from './store.fixture.ts'
import type { Bucket } from './types.ts'

const skip = whyNoState()
/** Half of them deadlocked when each key released its own. */
const ROUNDS = 10
const KEYS = Array.from({ length: 8 }, (_, n) => `k${n}`)
const OPTIONS = { bypassGovernance: false }
let store: Store
withStore(8, (opened) => (store = opened))

/** The store of one gateway: two calls at once are sent apart. */
const openObjects = () =>
  createObjects({
    state: askedOnce(store.state),
    finds: store.state,
    puts: askedOnce(store.state),
    documents: store.documents,
    clock: systemClock,
  })

async function copyOf(bucket: Bucket, key: string) {
  const { version, body } = await readVersion(store, bucket, { key })
  return { attributes: version, body, share: true }
}

async function putShared(bucket: Bucket): Promise<void> {
  for (const key of KEYS) {
    await store.objects.put(bucket, key, partsObject(key, [40_000, 40_000]))
    await store.objects.put(bucket, `copy-${key}`, await copyOf(bucket, key))
  }
}

test('objects and their copies are deleted at once in opposite orders', { skip }, async () => {
  const bucket = await makeBucket(store, 'deleted-at-once')
  for (let round = 0; round < ROUNDS; round++) {
    await putShared(bucket)
    const copies = KEYS.map((key) => `copy-${key}`).toReversed()
    await Promise.all(
      [KEYS, copies].map((keys) =>
        openObjects().delete(
          bucket,
          keys.map((key) => ({ key })),
          OPTIONS,
        ),
      ),
    )
    assert.deepEqual(await brokenRules(store.state), [])
  }
  const { rows } = await store.state.query('select from blobs')
  assert.equal(rows.length, 0)
})

test('two copies that swap keys, and a deletion beside them', { skip }, async () => {
  const bucket = await makeBucket(store, 'swapped')
  for (let round = 0; round < ROUNDS; round++) {
    await putShared(bucket)
    const [one, two] = [await copyOf(bucket, 'k0'), await copyOf(bucket, 'k1')]
    const ends = await Promise.allSettled([
      openObjects().put(bucket, 'k1', one),
      openObjects().put(bucket, 'k0', two),
      openObjects().delete(bucket, [{ key: 'copy-k1' }, { key: 'copy-k0' }], OPTIONS),
    ])
    for (const end of ends)
      // The source was removed: the caller looks it up again.
      if (end.status === 'rejected') assert.equal(end.reason.code, 'ConditionalRequestConflict')
    assert.deepEqual(await brokenRules(store.state), [])
  }
})

test('a batch deletes some of those that share a blob', { skip }, async () => {
  const bucket = await makeBucket(store, 'shared-by-three')
  await putShared(bucket)
  await store.objects.put(bucket, 'third', await copyOf(bucket, 'k0'))
  const two = [{ key: 'copy-k0' }, { key: 'k0' }]
  await store.objects.delete(bucket, two, OPTIONS)
  assert.deepEqual(await brokenRules(store.state), [])
  await store.objects.delete(bucket, [{ key: 'third' }], OPTIONS)
  assert.deepEqual(await brokenRules(store.state), [])
})
