import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { createUploads } from './create-uploads.ts'
import type { Attributes, Version } from './types.ts'
import {
  OTHER,
  withStore,
  type Store,
  brokenRules,
  inlineObject,
  makeBucket,
  part,
  partsObject,
  readVersion,
  attributes,
} from './store.fixture.ts'

const skip = whyNoState()
const LIST = { prefix: '', delimiter: '', after: '', limit: 1000 }
let store: Store
withStore(8, (opened) => (store = opened))
const refused = (code: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === code

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
  const gone = { key: 'k', versionId: undefined, deleteMarker: false }
  assert.deepEqual(await remove({ ifMatch: '*', ifMatchSize: 1, ifMatchModifiedMs: second }), gone)
  // An absent object need not be deleted, whatever its ETag should have been.
  assert.deepEqual(await remove({ ifMatch: ['other'] }), gone)
})

test('of writers with If-None-Match: * exactly one wins', { skip }, async () => {
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
  await store.buckets.delete(bucket)
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
    assert.deepEqual(await remove(false), { ...target, deleteMarker: false })
  },
)

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
    await store.objects.delete(bucket, [{ key: 'k' }], { bypassGovernance: false })
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
  await store.uploads.abort(bucket, name)
  assert.deepEqual(await brokenRules(store.state), [])
})

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

test('listings tell of each object what find() tells', { skip }, async () => {
  const bucket = await makeBucket(store, 'told-alike')
  await store.buckets.setVersioning(bucket, 'enabled')
  const others: readonly Partial<Attributes>[] = [
    { checksums: { type: 'FULL_OBJECT', CRC64NVME: 'AAAAAAAAAAA=' } },
    { checksums: { type: 'COMPOSITE', SHA1: 'AAA=-2' }, owner: OTHER },
    { checksums: { type: 'COMPOSITE', SHA1: 'BBB=-2' }, owner: OTHER, storageClass: 'STANDARD_IA' },
    { checksums: {} },
    { checksums: { type: 'FULL_OBJECT' } },
    { etag: `${'0'.repeat(32)}-2`, checksums: { CRC32: 'AAAAAA==' } },
  ]
  const keys = others.map((_, n) => `told/${n} é\t"`)
  for (const [n, other] of others.entries()) {
    const { attributes: own, body } = inlineObject('x'.repeat(n))
    const written = { attributes: { ...own, ...other }, body }
    await store.objects.put(bucket, keys[n] ?? '', written)
  }
  const found = await Promise.all(keys.map((key) => readVersion(store, bucket, { key })))
  const traitsOf = ({ storageClass, owner }: Version, n: number) => ({
    storageClass,
    owner,
    checksum: LISTED_CHECKSUMS[n],
  })
  const versions = await store.listings.versions(bucket, LIST)
  assert.equal(versions.entries.length, found.length)
  for (const [n, { traits, ...facts }] of versions.entries.entries()) {
    const { version } = present(found[n], 'each key has its version')
    assert.deepEqual(version, { ...version, ...facts })
    assert.deepEqual(traits, traitsOf(version, n))
  }
  for (const delimiter of ['', '|', '/']) {
    const prefix = delimiter === '/' ? 'told/' : ''
    const { entries } = await store.listings.objects(bucket, { ...LIST, delimiter, prefix })
    assert.deepEqual(
      entries,
      found.map(({ version }, n) => {
        const { key, size, etag, modifiedAtMs } = version
        return { key, size, etag, modifiedAtMs, traits: traitsOf(version, n) }
      }),
    )
  }
})

const COMPOSITE = { algorithm: 'SHA1', type: 'COMPOSITE' }
const LISTED_CHECKSUMS = [{ algorithm: 'CRC64NVME', type: 'FULL_OBJECT' }, COMPOSITE, COMPOSITE]

test('a listing goes on where versions were deleted in between', { skip }, async () => {
  const bucket = await makeBucket(store, 'deleted-between')
  await store.buckets.setVersioning(bucket, 'enabled')
  await store.objects.put(bucket, 'k', inlineObject('1'))
  await store.buckets.setVersioning(bucket, 'suspended')
  await store.objects.put(bucket, 'k', inlineObject('2'))
  const first = await store.listings.versions(bucket, { ...LIST, limit: 1 })
  assert.equal(first.entries[0]?.versionId, 'null')
  await store.objects.delete(bucket, [{ key: 'k', versionId: 'null' }], { bypassGovernance: false })
  const { key, versionId } = first.last
  const rest = await store.listings.versions(bucket, {
    ...LIST,
    after: key,
    afterVersion: versionId,
  })
  assert.equal(rest.entries.length, 1)
  await assert.rejects(
    store.listings.versions(bucket, { ...LIST, afterVersion: 'nonsense' }),
    refused('InvalidArgument'),
  )
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
