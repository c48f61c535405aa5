// Uploads in parts: what they leave, and what they count.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { createUploads } from './create-uploads.ts'
import {
  attributes,
  brokenRules,
  makeBucket,
  OTHER,
  part,
  readVersion,
  refused,
  type Store,
  withStore,
} from './store.fixture.ts'

const skip = whyNoState()
let store: Store
withStore(8, (opened) => (store = opened))

test('a bucket that has only open uploads is deleted, and aborts them', { skip }, async () => {
  const bucket = await makeBucket(store, 'only-uploads')
  const parts = [part(1, 5, 'a'), part(2, 7, 'b'), part(1, 9, 'c')]
  const open = ['k', 'k', 'other'].map((key) =>
    store.uploads.create(bucket, { key, initiator: OTHER, attributes: attributes('', 0) }),
  )
  const [first, second, empty] = await Promise.all(open)
  assert.ok(first && second && empty)
  const name = { key: 'k', uploadId: first.id }
  for (const each of parts.slice(0, 2)) await store.uploads.putPart(bucket, name, each)
  for (const each of parts.slice(2))
    await store.uploads.putPart(bucket, { key: 'k', uploadId: second.id }, each)
  assert.equal(await store.buckets.delete(bucket), parts.length)
  await assert.rejects(store.buckets.get(bucket.name), refused('NoSuchBucket'))
  await assert.rejects(
    store.uploads.putPart(bucket, name, part(3, 5, 'd')),
    refused('NoSuchUpload'),
  )
  assert.deepEqual(await brokenRules(store.state), [])
  const { rows } = await store.state.query(
    `select id from blob_garbage where id = any ($1)
     union all select p.blob from upload_parts p join uploads u on u.id = p.upload where u.bucket = $2`,
    [parts.map(({ blob }) => blob.id), bucket.id],
  )
  assert.equal(rows.length, parts.length)
})

test('parts of one upload that come side by side, and its end, are counted', { skip }, async () => {
  const bucket = await makeBucket(store, 'side-by-side')
  for (let round = 0; round < 10; round++) {
    const made = Array.from({ length: 4 }, () =>
      store.uploads.create(bucket, { key: 'k', initiator: OTHER, attributes: attributes('', 0) }),
    )
    const names = (await Promise.all(made)).map(({ id }) => ({ key: 'k', uploadId: id }))
    const ends = names.flatMap((name, n) => [
      ...Array.from({ length: 6 }, (_, at) =>
        store.uploads.putPart(bucket, name, part((at % 4) + 1, 5 + at, 'e')),
      ),
      ...(n % 2 === 0 ? [store.uploads.abort(bucket, name)] : []),
    ])
    for (const end of await Promise.allSettled(ends))
      if (end.status === 'rejected') assert.equal(end.reason.code, 'NoSuchUpload')
    assert.deepEqual(await brokenRules(store.state), [])
  }
})

test('a bucket is deleted while parts of its uploads come', { skip }, async () => {
  for (let round = 0; round < 10; round++) {
    const bucket = await makeBucket(store, `parts-come-${round}`)
    const upload = await store.uploads.create(bucket, {
      key: 'k',
      initiator: OTHER,
      attributes: attributes('', 0),
    })
    const name = { key: 'k', uploadId: upload.id }
    const put = (number: number) =>
      store.uploads.putPart(bucket, name, part(number, 5, `${number}`))
    const [removed, ...ends] = await Promise.allSettled([
      put(1).then(() => store.buckets.delete(bucket)),
      ...Array.from({ length: 5 }, (_, n) => put(n + 1)),
    ])
    assert.equal(removed.status, 'fulfilled')
    for (const end of ends)
      if (end.status === 'rejected') assert.equal(end.reason.code, 'NoSuchUpload')
    assert.deepEqual(await brokenRules(store.state), [])
  }
})

test(
  'complete() makes the object of the listed parts, and the same answer again',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'uploads')
    const { id: uploadId } = await store.uploads.create(bucket, {
      key: 'k',
      initiator: OTHER,
      attributes: attributes('', 0),
    })
    const name = { key: 'k', uploadId }
    const [one, spare, two, replaced] = [
      part(1, 5, 'p1'),
      part(2, 5, 'p2'),
      part(3, 1, 'p3'),
      part(1, 9, 'old'),
    ]
    for (const each of [replaced, two, spare, one]) await store.uploads.putPart(bucket, name, each)
    assert.equal((await store.uploads.find(bucket, name))?.isCompleted, false)
    assert.equal(await store.uploads.find(bucket, { key: 'other', uploadId }), undefined)
    const complete = (parts: { number: number; etag: string }[]) =>
      store.uploads.complete(bucket, name, {
        parts,
        compose: (found) => ({
          etag: `${found.map(({ etag }) => etag).join('')}-${found.length}`,
          checksums: {},
        }),
      })
    const listed = await store.uploads.parts(bucket, name, { after: 1, limit: 1 })
    assert.deepEqual(
      listed.parts.map(({ number }) => number),
      [2],
    )
    assert.equal(listed.truncated, true)
    await assert.rejects(
      complete([
        { number: 3, etag: 'p3' },
        { number: 1, etag: 'p1' },
      ]),
      refused('InvalidPartOrder'),
    )
    await assert.rejects(complete([{ number: 1, etag: 'old' }]), refused('InvalidPart'))
    await assert.rejects(
      store.uploads.putPart(bucket, { key: 'other', uploadId }, part(1, 5, 'x')),
      refused('NoSuchUpload'),
    )
    const wanted = [
      { number: 1, etag: 'p1' },
      { number: 3, etag: 'p3' },
    ]
    const done = await complete(wanted)
    assert.deepEqual([done.etag, done.size], ['p1p3-2', 6])
    const found = await store.uploads.find(bucket, name)
    assert.deepEqual([found?.isCompleted, found?.attributes], [true, attributes('', 0)])
    const { body, version } = await readVersion(store, bucket, { key: 'k' })
    assert.deepEqual(body, { kind: 'parts', parts: [one, two] })
    assert.equal(version.partCount, 2)
    assert.deepEqual(
      await store.objects.delete(bucket, [{ key: 'k' }], { bypassGovernance: false }),
      [{ key: 'k', versionId: undefined, deleteMarker: false, blobs: 2 }],
    )
    assert.deepEqual(await complete(wanted), done)
    await assert.rejects(complete([{ number: 1, etag: 'p1' }]), refused('NoSuchUpload'))
    await assert.rejects(store.uploads.abort(bucket, name), refused('NoSuchUpload'))
    assert.deepEqual(await brokenRules(store.state), [])
    const { rows } = await store.state.query('select id from blob_garbage where id = any ($1)', [
      [one, spare, two, replaced].map(({ blob }) => blob.id),
    ])
    assert.equal(rows.length, 4)
    await store.buckets.delete(bucket)
  },
)

test(
  'complete() answers the same to a completion that another one overtakes',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'completed-twice')
    const completion = {
      parts: [{ number: 1, etag: 'p1' }],
      compose: () => ({ etag: 'p1-1', checksums: {} }),
    }
    // The other one comes after the first, the second, and the last query of this one.
    for (const moment of [1, 2, 3]) {
      const { id: uploadId } = await store.uploads.create(bucket, {
        key: 'k',
        initiator: OTHER,
        attributes: attributes('', 0),
      })
      const name = { key: 'k', uploadId }
      await store.uploads.putPart(bucket, name, part(1, 5, 'p1'))
      let questions = 0
      let other: unknown
      const state: Queryable = {
        async query<R extends SqlRow>(text: string, values?: readonly unknown[]) {
          const answer = await store.state.query<R>(text, values)
          if (++questions === moment) other = await store.uploads.complete(bucket, name, completion)
          return answer
        },
      }
      const { complete } = createUploads({ state, clock: systemClock })
      const done = await complete(bucket, name, completion)
      assert.deepEqual(done, other)
    }
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test('complete() refuses a small part that is not the last', { skip }, async () => {
  const bucket = await makeBucket(store, 'small-parts')
  const upload = await store.uploads.create(bucket, {
    key: 'k',
    initiator: OTHER,
    attributes: attributes('', 0),
  })
  const name = { key: 'k', uploadId: upload.id }
  await store.uploads.putPart(bucket, name, part(1, 4, 'a'))
  await store.uploads.putPart(bucket, name, part(2, 4, 'b'))
  const parts = [
    { number: 1, etag: 'a' },
    { number: 2, etag: 'b' },
  ]
  const compose = () => ({ etag: 'x', checksums: {} })
  await assert.rejects(
    store.uploads.complete(bucket, name, { parts, compose }),
    refused('EntityTooSmall'),
  )
  assert.equal(await store.uploads.abort(bucket, name), 2)
  assert.deepEqual(await brokenRules(store.state), [])
})
