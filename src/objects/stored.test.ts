// Stored bytes beside the bytes of a body: those of its metadata.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { lookAtStored } from '#node/stored-things.ts'
import { createUploads } from './create-uploads.ts'
import {
  ACCOUNT,
  attributes,
  brokenRules,
  inlineObject,
  makeBucket,
  part,
  withStore,
  type Store,
} from './store.fixture.ts'
import type { Bucket } from './types.ts'

const skip = whyNoState()
let store: Store
withStore(2, (opened) => (store = opened))

async function storedOf(bucket: Bucket): Promise<number> {
  const page = { look: 'storage_look', minuteMs: 60_000, ids: [bucket.id] }
  const power = { milliwattsPerTb: 1, pueMilli: 1000 }
  const [look] = await lookAtStored(store.state, { ...page, power })
  assert.equal(look?.id, String(bucket.id))
  return Number(look.bytes)
}

/** Of JSON that is empty nothing counts. */
const lengthOf = (...texts: string[]) =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text) - (text.startsWith('{') ? 2 : 0), 0)

const HEADERS = '{"content-type": "text/plain"}'
const METADATA = '{"colour": "blå"}'

test(
  'key, headers, metadata, tags and ACL of each version count in what is stored',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'written-about')
    const key = 'clé'
    const own = lengthOf(key, HEADERS, METADATA)
    assert.equal(await storedOf(bucket), 0)
    await store.objects.put(bucket, key, inlineObject('12345'))
    assert.equal(await storedOf(bucket), own + 5)
    await store.objects.amend(bucket, { key }, { tags: { a: 'é' } })
    assert.equal(await storedOf(bucket), own + 5 + lengthOf('{"a": "é"}'))
    await store.objects.amend(bucket, { key }, { acl: ['x'] })
    assert.equal(await storedOf(bucket), own + 5 + lengthOf('{"a": "é"}') + '["x"]'.length)
    await store.objects.amend(bucket, { key }, { acl: null })
    await store.objects.amend(bucket, { key }, { tags: {} })
    assert.equal(await storedOf(bucket), own + 5)
    const body = { kind: 'inline', bytes: Buffer.from('') } as const
    const bare = { ...attributes('e', 0), headers: {}, metadata: {} }
    await store.objects.put(bucket, key, { attributes: bare, body })
    assert.equal(await storedOf(bucket), lengthOf(key), 'it was replaced')

    await store.buckets.setVersioning(bucket, 'enabled')
    const versioned = await store.buckets.get(bucket.name)
    const { versionId } = await store.objects.put(versioned, key, inlineObject('1'))
    await store.objects.delete(versioned, [{ key }], { bypassGovernance: false })
    assert.equal(await storedOf(bucket), lengthOf(key, key) + own + 1, 'a marker is its key')
    assert.deepEqual(await brokenRules(store.state), [])
    for (const version of [versionId, 'null'])
      await store.objects.delete(versioned, [{ key, versionId: version }], {
        bypassGovernance: false,
      })
    assert.equal(await storedOf(bucket), lengthOf(key))
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test(
  'documents of a bucket and uploads that are open count while they are there',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'documents-count')
    await store.buckets.configure(bucket, 'cors', { a: 'é' })
    assert.equal(await storedOf(bucket), lengthOf('{"cors": {"a": "é"}}'))
    await store.buckets.configure(bucket, 'cors', null)
    assert.equal(await storedOf(bucket), 0)
    const begun = await store.uploads.create(bucket, {
      key: 'key',
      initiator: ACCOUNT,
      attributes: { ...attributes('', 0), metadata: { text: 'x'.repeat(2000) } },
    })
    const stored = await storedOf(bucket)
    assert.ok(stored > 2000 && stored < 3000, String(stored))
    await store.uploads.abort(bucket, { key: 'key', uploadId: begun.id })
    assert.equal(await storedOf(bucket), 0)
  },
)

test('a bucket has so many open uploads and no more, until some end', { skip }, async () => {
  const bucket = await makeBucket(store, 'open-uploads')
  const uploads = createUploads({ state: store.state, clock: systemClock, openMax: 2 })
  const begin = (more = {}) =>
    uploads.create(bucket, { key: 'k', initiator: ACCOUNT, attributes: attributes('', 0), ...more })
  const first = await begin()
  // Guests have half of it, so that they cannot keep the owner out.
  await assert.rejects(begin({ isGuest: true }), { code: 'TooManyUploads' })
  await begin()
  await assert.rejects(begin(), { code: 'TooManyUploads' })
  await uploads.abort(bucket, { key: 'k', uploadId: first.id })
  const third = await begin()
  await assert.rejects(begin(), { code: 'TooManyUploads' })
  const name = { key: 'k', uploadId: third.id }
  await uploads.putPart(bucket, name, part(1, 7, 'p'))
  await uploads.complete(bucket, name, {
    parts: [{ number: 1, etag: 'p' }],
    compose: () => ({ etag: 'm', checksums: {} }),
  })
  await begin()
  assert.deepEqual(await brokenRules(store.state), [])
})
