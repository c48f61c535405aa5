// Expiry: versions and uploads by the rules of a bucket, and remains of uploads.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import {
  ACCOUNT,
  attributes,
  brokenRules,
  inlineObject,
  makeBucket,
  part,
  readVersion,
  type Store,
} from '#objects/store.fixture.ts'
import { expireObjects } from './expire-objects.ts'
import { expireUploads, forgetCompletions } from './expire-uploads.ts'
import { lookAtStored } from '#node/stored-things.ts'
import { later, withBlobs } from './upkeep.fixture.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const DAY_MS = 86_400_000
let store: Store
const { remove } = withBlobs((opened) => ({ store } = opened))

test(
  'expireObjects() applies the rules of each bucket, a bounded number at a call',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'expiring')
    await makeBucket(store, 'without-rules')
    const rule = (id: string, prefix: string, more: object) => ({
      id,
      enabled: true,
      filter: { bare: false, prefix, tags: {} },
      ...more,
    })
    const rules = [
      rule('current', 'logs/', { expiration: { days: 1 } }),
      rule('older', 'docs/', { noncurrent: { days: 1, keepNewer: 1 } }),
      rule('markers', 'docs/', { expiration: { deleteMarker: true } }),
      rule('uploads', 'u/', { abortUploadsDays: 3 }),
    ]
    await store.buckets.configure(bucket, 'lifecycle', { rules })
    await store.objects.put(bucket, 'logs/a', inlineObject('1'))
    await store.objects.put(bucket, 'other', inlineObject('1'))
    await store.buckets.setVersioning(bucket, 'enabled')
    for (const text of ['1', '2', '3', '4'])
      await store.objects.put(bucket, 'docs/a', inlineObject(text))
    const { versionId } = await store.objects.put(bucket, 'docs/b', inlineObject('1'))
    await remove(bucket, 'docs/b')
    await store.objects.delete(bucket, [{ key: 'docs/b', versionId }], { bypassGovernance: false })
    await store.uploads.create(bucket, {
      key: 'u/1',
      initiator: ACCOUNT,
      attributes: attributes('', 0),
    })
    // More than a page of uploads that no rule selects come before the expired upload.
    await store.state.query(
      `insert into uploads (id, bucket, key, initiator, initiated_at, attributes)
       select 'kept-' || n, bucket, 'kept-' || n, initiator, initiated_at - interval '1 hour', attributes
       from uploads, generate_series(1, 1001) n where bucket = $1`,
      [bucket.id],
    )
    await store.state.query(
      `insert into bucket_usage (bucket, stripe, bytes, versions, uploads)
       select bucket, -99, sum(own_bytes), 0, count(*) from uploads
       where bucket = $1 and id like 'kept-%' group by bucket`,
      [bucket.id],
    )

    const round = async (clock: typeof systemClock) => {
      for (let calls = 0; ; calls++) {
        const { done, examined } = await expireObjects(
          { state: store.state, objects: store.objects, clock },
          { limit: 2, signal, dayMs: 10_000 },
        )
        assert.ok(examined <= 2 && calls < 20)
        if (done) return
      }
    }
    const left = async () => {
      const page = { prefix: '', delimiter: '', after: '', limit: 100 }
      const { entries } = await store.listings.versions(bucket, page)
      return entries.map(
        ({ key, deleteMarker, etag }) => `${key} ${deleteMarker ? 'marker' : etag}`,
      )
    }
    await round(systemClock)
    assert.deepEqual(await left(), [
      'docs/a e-4',
      'docs/a e-3',
      'docs/a e-2',
      'docs/a e-1',
      'logs/a e-1',
      'other e-1',
    ])
    await round(later(11_000))
    assert.deepEqual(await left(), [
      'docs/a e-4',
      'docs/a e-3',
      'logs/a marker',
      'logs/a e-1',
      'other e-1',
    ])
    const uploads = async () =>
      (await store.listings.uploads(bucket, { prefix: 'u/', delimiter: '', after: '', limit: 10 }))
        .entries
    assert.equal((await uploads()).length, 1)
    await round(later(31_000))
    assert.equal((await uploads()).length, 0)
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test(
  'expireObjects() labels versions with the class that is due, and only those',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'transitions')
    const filter = { bare: false, prefix: 'a', tags: {} }
    const transitions = [
      { storageClass: 'INTELLIGENT_TIERING', when: { days: 1 } },
      { storageClass: 'GLACIER_IR', when: { days: 3 } },
    ]
    const noncurrentTransitions = [{ storageClass: 'GLACIER_IR', days: 1 }]
    const rules = [
      {
        id: 'r',
        enabled: true,
        filter,
        transitions,
        noncurrentTransitions,
        expiration: { days: 5 },
      },
    ]
    await store.buckets.configure(bucket, 'lifecycle', { rules })
    await store.buckets.setVersioning(bucket, 'enabled')
    for (const [key, text] of [
      ['a', '1'],
      ['a', '2'],
      ['b', '3'],
    ] as const)
      await store.objects.put(bucket, key, inlineObject(text))
    const classes = async (clock: typeof systemClock, state: Queryable = store.state) => {
      const deps = { state, objects: store.objects, clock }
      while (!(await expireObjects(deps, { limit: 2, signal, dayMs: 10_000 })).done);
      const page = { prefix: '', delimiter: '', after: '', limit: 100 }
      const { entries } = await store.listings.versions(bucket, page)
      return entries.map(
        (entry) =>
          `${entry.key} ${entry.deleteMarker ? 'marker' : `${entry.etag} ${entry.traits.storageClass}`}`,
      )
    }
    assert.deepEqual(await classes(systemClock), [
      'a e-2 STANDARD',
      'a e-1 STANDARD',
      'b e-3 STANDARD',
    ])
    const moved = ['a e-2 INTELLIGENT_TIERING', 'a e-1 GLACIER_IR', 'b e-3 STANDARD']
    assert.deepEqual(await classes(later(11_000)), moved)
    const { version } = await readVersion(store, bucket, { key: 'a' })
    assert.equal(version.storageClass, 'INTELLIGENT_TIERING')
    // A write made meanwhile is another version, of the class that its writer names.
    await store.buckets.setVersioning(bucket, 'suspended')
    await store.objects.put(bucket, 'a', inlineObject('4'))
    let raced = false
    const racing = withRace(async () => {
      if (raced) return
      raced = true
      await store.objects.put(bucket, 'a', inlineObject('5'))
    })
    assert.equal((await classes(later(31_000), racing))[0], 'a e-5 STANDARD')
    assert.equal((await classes(later(31_000)))[0], 'a e-5 GLACIER_IR')
    assert.equal((await classes(later(51_000)))[0], 'a marker')
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

/** A state in which something happens after the versions were examined and before any of them is deleted. */
const withRace = (race: () => Promise<unknown>): Queryable => ({
  async query<R extends SqlRow>(text: string, values?: readonly unknown[]) {
    const answer = await store.state.query<R>(text, values)
    if (text.includes('as alone')) await race()
    return answer
  },
})

test(
  'expireObjects() goes on behind a version whose page cannot be read, and fails its call',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'damaged')
    const filter = { bare: false, prefix: '', tags: {} }
    await store.buckets.configure(bucket, 'lifecycle', {
      rules: [{ id: 'all', enabled: true, filter, expiration: { days: 1 } }],
    })
    for (const key of ['bad', 'sound']) await store.objects.put(bucket, key, inlineObject('1'))
    const broken = Object.assign(new Error('invalid page in block 7'), { code: 'XX001' })
    const objects: typeof store.objects = {
      ...store.objects,
      delete: (of, deletions, options) =>
        deletions.some(({ key }) => key === 'bad')
          ? Promise.reject(broken)
          : store.objects.delete(of, deletions, options),
    }
    await store.state.query("delete from storage_upkeep where task = 'lifecycle'")
    const expire = () =>
      expireObjects(
        { state: store.state, objects, clock: later(2 * DAY_MS) },
        { limit: 1, signal, dayMs: DAY_MS },
      )
    await assert.rejects(async () => {
      while (!(await expire()).done);
    }, broken)
    assert.equal((await expire()).deleted, 1)
  },
)

test(
  'expireObjects() leaves what replaced the null version that was examined',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'replaced')
    const rules = [
      { noncurrent: { days: 1, keepNewer: 0 } },
      { expiration: { deleteMarker: true } },
    ]
    const filter = { bare: false, prefix: '', tags: {} }
    await store.buckets.configure(bucket, 'lifecycle', {
      rules: rules.map((rule, n) => ({ id: `r${n}`, enabled: true, filter, ...rule })),
    })
    const keys = ['older', 'marker', 'kept-older']
    for (const key of ['older', 'kept-older'])
      await store.objects.put(bucket, key, inlineObject('before'))
    await store.buckets.setVersioning(bucket, 'enabled')
    for (const key of ['older', 'kept-older'])
      await store.objects.put(bucket, key, inlineObject('newer'))
    await store.buckets.setVersioning(bucket, 'suspended')
    for (const key of ['marker', 'lone-marker']) await remove(bucket, key)
    const race = async () => {
      for (const key of ['older', 'marker'])
        await store.objects.put(bucket, key, inlineObject('acknowledged'))
    }
    const expire = (state: Queryable) =>
      expireObjects(
        { state, objects: store.objects, clock: later(11_000) },
        { limit: 100, signal, dayMs: 10_000 },
      )
    // A version that nobody replaced is deleted: the condition holds for it.
    assert.equal((await expire(withRace(race))).deleted, 2)
    const left = []
    for (const key of [...keys, 'lone-marker']) {
      const { found } = await store.objects.find(bucket.name, { key })
      left.push(found?.version.etag)
    }
    assert.deepEqual(left, ['e-acknowledged', 'e-acknowledged', 'e-newer', undefined])
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test(
  'expireObjects() leaves an older version that has become the object again',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'undeleted')
    const filter = { bare: false, prefix: '', tags: {} }
    await store.buckets.configure(bucket, 'lifecycle', {
      rules: [{ id: 'r', enabled: true, filter, noncurrent: { days: 1, keepNewer: 0 } }],
    })
    await store.buckets.setVersioning(bucket, 'enabled')
    const markers = new Map<string, string>()
    for (const key of ['hidden', 'undeleted']) {
      await store.objects.put(bucket, key, inlineObject(key))
      const [marker] = await store.objects.delete(bucket, [{ key }], { bypassGovernance: false })
      assert.ok(marker !== undefined && 'versionId' in marker && marker.versionId !== undefined)
      markers.set(key, marker.versionId)
    }
    const undelete = () =>
      store.objects.delete(
        bucket,
        [{ key: 'undeleted', versionId: markers.get('undeleted') ?? '' }],
        { bypassGovernance: false },
      )
    const { deleted } = await expireObjects(
      { state: withRace(undelete), objects: store.objects, clock: later(11_000) },
      { limit: 100, signal, dayMs: 10_000 },
    )
    assert.equal(deleted, 1)
    const { found } = await store.objects.find(bucket.name, { key: 'undeleted' })
    assert.equal(found?.version.etag, 'e-undeleted')
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test(
  'uploads expire, answers are forgotten, and both count in what is stored until then',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'old-uploads')
    const begin = async (key: string) => {
      const upload = await store.uploads.create(bucket, {
        key,
        initiator: ACCOUNT,
        attributes: attributes('', 0),
      })
      await store.uploads.putPart(bucket, { key, uploadId: upload.id }, part(1, 7, 'p'))
      return { key, uploadId: upload.id }
    }
    const done = await begin('done')
    await begin('open')
    const complete = () =>
      store.uploads.complete(bucket, done, {
        parts: [{ number: 1, etag: 'p' }],
        compose: () => ({ etag: 'm', checksums: {} }),
      })
    await complete()
    await store.objects.put(bucket, 'small', inlineObject('123'))
    const power = { milliwattsPerTb: 1, pueMilli: 1000 }
    const stored = async () =>
      (
        await lookAtStored(store.state, {
          look: 'storage_look',
          minuteMs: 1,
          ids: [bucket.id],
          power,
        })
      ).map(({ name, bytes }) => [name, bytes])
    /** Metadata of objects and of open uploads; see stored.test.ts. */
    const about = async () => {
      const { rows } = await store.state.query<{ bytes: string }>(
        `select (select sum(storage_stored(v) - v.size) from object_versions v)
          + (select coalesce(sum(own_bytes), 0) from uploads where completed is null) as bytes`,
      )
      return BigInt(rows[0]?.bytes ?? 0)
    }
    const aboutBoth = await about()
    assert.deepEqual(await stored(), [['old-uploads', 17n + aboutBoth]])
    const nowMs = Date.now() + 1000
    assert.equal(await expireUploads(store.state, { beforeMs: nowMs - DAY_MS, limit: 9 }), 0)
    assert.equal(await expireUploads(store.state, { beforeMs: nowMs, limit: 9 }), 1)
    assert.ok((await about()) < aboutBoth)
    assert.deepEqual(await stored(), [['old-uploads', 10n + (await about())]])
    assert.equal(await forgetCompletions(store.state, { nowMs, limit: 9 }), 0)
    await complete()
    assert.equal(await forgetCompletions(store.state, { nowMs: nowMs + DAY_MS, limit: 9 }), 1)
    await assert.rejects(complete(), { code: 'NoSuchUpload' })
    assert.deepEqual(await brokenRules(store.state), [])
  },
)
