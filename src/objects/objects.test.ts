import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import {
  OTHER,
  withStore,
  type Store,
  brokenRules,
  inlineObject,
  makeBucket,
  partsObject,
  readVersion,
  refused,
  attributes,
} from './store.fixture.ts'

const skip = whyNoState()
let store: Store
withStore(8, (opened) => (store = opened))

test('put() then read() gives the same object, inline and in parts', { skip }, async () => {
  const bucket = await makeBucket(store, 'round-trip')
  const small = inlineObject('hello')
  const written = await store.objects.put(bucket, 'a', small)
  const { version, body } = await readVersion(store, bucket, { key: 'a' })
  assert.deepEqual(body, small.body)
  assert.deepEqual(version, {
    ...small.attributes,
    ...written,
    key: 'a',
    isLatest: true,
    deleteMarker: false,
    partCount: 0,
    annotations: null,
  })
  const large = partsObject('x', [70_000, 3])
  await store.objects.put(bucket, 'a', { ...large, partCount: 2 })
  const again = await readVersion(store, bucket, { key: 'a', versionId: 'null' })
  assert.deepEqual(again.body, large.body)
  assert.equal(again.version.partCount, 2)
  assert.deepEqual(await brokenRules(store.state), [])
})

test('find() and amend() say which of key and version is missing', { skip }, async () => {
  const bucket = await makeBucket(store, 'missing')
  await store.objects.put(bucket, 'a', inlineObject('1'))
  const unknown = { key: 'a', versionId: '0'.repeat(32) }
  await assert.rejects(readVersion(store, bucket, { key: 'b' }), refused('NoSuchKey'))
  await assert.rejects(readVersion(store, bucket, unknown), refused('NoSuchVersion'))
  await assert.rejects(store.objects.find('no-such', { key: 'a' }), refused('NoSuchBucket'))
  await assert.rejects(store.objects.amend(bucket, unknown, { acl: 'x' }), refused('NoSuchVersion'))
})

test('conditions are decided when the write commits', { skip }, async () => {
  const bucket = await makeBucket(store, 'conditions')
  const put = (conditions: object) =>
    store.objects.put(bucket, 'k', { ...inlineObject('1'), conditions })
  await assert.rejects(put({ ifMatch: ['e-1'] }), refused('NoSuchKey'))
  await put({ ifNoneMatch: '*' })
  await assert.rejects(put({ ifNoneMatch: '*' }), refused('PreconditionFailed'))
  await assert.rejects(put({ ifNoneMatch: ['e-1'] }), refused('PreconditionFailed'))
  await assert.rejects(put({ ifMatch: ['other'] }), refused('PreconditionFailed'))
  await put({ ifMatch: ['other', 'e-1'] })
  const last = await put({ ifMatch: '*' })
  const remove = async (conditions: object) =>
    (await store.objects.delete(bucket, [{ key: 'k', conditions }], { bypassGovernance: false }))[0]
  const failed = { key: 'k', code: 'PreconditionFailed' }
  assert.deepEqual(await remove({ ifMatch: ['other'] }), failed)
  assert.deepEqual(await remove({ ifMatchSize: 2 }), failed)
  assert.deepEqual(await remove({ ifMatchModifiedMs: last.modifiedAtMs - 1000 }), failed)
  const second = Math.floor(last.modifiedAtMs / 1000) * 1000
  const gone = { key: 'k', versionId: undefined, deleteMarker: false, blobs: 0 }
  const met = { ifMatch: '*', ifMatchSize: 1, ifMatchModifiedMs: second } as const
  assert.deepEqual(await remove(met), { ...gone, blobs: 1 }, 'a row was removed')
  // An absent object need not be deleted, whatever its ETag should have been.
  assert.deepEqual(await remove({ ifMatch: ['other'] }), gone)
})

test('one of several writers with If-None-Match: * wins', { skip }, async () => {
  const bucket = await makeBucket(store, 'races')
  for (let round = 0; round < 10; round++) {
    const ends = await Promise.allSettled(
      Array.from({ length: 6 }, (_, writer) =>
        store.objects.put(bucket, `k${round}`, {
          ...inlineObject(`w${writer}`),
          conditions: { ifNoneMatch: '*' },
        }),
      ),
    )
    assert.equal(ends.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const end of ends)
      if (end.status === 'rejected') assert.equal(end.reason.code, 'PreconditionFailed')
  }
})

test('a bucket is deleted or written to, never both', { skip }, async () => {
  for (let round = 0; round < 10; round++) {
    const bucket = await makeBucket(store, `short-lived-${round}`)
    const [put, upload, removed] = await Promise.allSettled([
      store.objects.put(bucket, 'k', inlineObject('1')),
      store.uploads.create(bucket, { key: 'u', initiator: OTHER, attributes: attributes('', 0) }),
      store.buckets.delete(bucket),
    ])
    assert.equal(removed.status === 'fulfilled', put.status === 'rejected')
    if (upload.status === 'rejected') assert.equal(upload.reason.code, 'NoSuchBucket')
    if (put.status === 'rejected') assert.equal(put.reason.code, 'NoSuchBucket')
    if (removed.status === 'rejected') assert.equal(removed.reason.code, 'BucketNotEmpty')
    const { rows } = await store.state.query(
      `select from (select bucket from object_versions union all select bucket from uploads) v
       where not exists (select from buckets b where b.id = v.bucket)`,
    )
    assert.equal(rows.length, 0)
  }
})

test(
  'retention and legal hold keep a version, and may only become stronger',
  { skip },
  async () => {
    const { bucket } = await store.buckets.create({
      name: 'locked',
      account: OTHER,
      region: 'local',
      objectLock: true,
      configurations: {},
    })
    const { versionId } = await store.objects.put(bucket, 'k', inlineObject('1'))
    const target = { key: 'k', versionId }
    const untilMs = Date.now() + 3_600_000
    const remove = async (bypassGovernance: boolean) =>
      (await store.objects.delete(bucket, [target], { bypassGovernance }))[0]
    const retain = (mode: 'GOVERNANCE' | 'COMPLIANCE', until: number, bypassGovernance = false) =>
      store.objects.amend(bucket, target, {
        retention: { mode, untilMs: until },
        bypassGovernance,
      })
    const denied = { key: 'k', code: 'AccessDenied' }

    await retain('GOVERNANCE', untilMs)
    await retain('GOVERNANCE', untilMs + 1)
    await assert.rejects(retain('GOVERNANCE', untilMs), refused('AccessDenied'))
    assert.deepEqual(await remove(false), denied)
    await retain('COMPLIANCE', untilMs, true)
    await assert.rejects(retain('GOVERNANCE', untilMs, true), refused('AccessDenied'))
    assert.deepEqual(await remove(true), denied)
    await store.state.query(
      "update object_versions set retain_until = now() - interval '1 s' where bucket = $1",
      [bucket.id],
    )
    await store.objects.amend(bucket, target, { legalHold: true })
    assert.deepEqual(await remove(true), denied)
    await store.objects.amend(bucket, target, { legalHold: false })
    assert.deepEqual(await remove(false), { ...target, deleteMarker: false, blobs: 1 })
  },
)

test('a copy shares its blobs, unless they are gone', { skip }, async () => {
  const bucket = await makeBucket(store, 'copies')
  const source = partsObject('s', [9])
  await store.objects.put(bucket, 'source', source)
  await store.objects.put(bucket, 'copy', { ...source, share: true })
  await store.objects.delete(bucket, [{ key: 'source' }], { bypassGovernance: false })
  assert.deepEqual((await readVersion(store, bucket, { key: 'copy' })).body, source.body)
  assert.deepEqual(await brokenRules(store.state), [])
  await store.objects.delete(bucket, [{ key: 'copy' }], { bypassGovernance: false })
  await assert.rejects(
    store.objects.put(bucket, 'late', { ...source, share: true }),
    refused('ConditionalRequestConflict'),
  )
  assert.deepEqual(await brokenRules(store.state), [])
})

test('retention keeps its milliseconds, however far away it ends', { skip }, async () => {
  const bucket = await makeBucket(store, 'retained-long')
  for (const until of [
    '2284-01-01T00:00:00.001Z',
    '2999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59.001Z',
  ]) {
    const retention = { mode: 'GOVERNANCE', untilMs: Date.parse(until) } as const
    const object = inlineObject('x')
    await store.objects.put(bucket, until, {
      ...object,
      attributes: { ...object.attributes, retention },
    })
    const { found } = await store.objects.find(bucket.name, { key: until })
    assert.deepEqual(found?.version.retention, retention)
  }
})
