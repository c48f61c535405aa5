import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, beforeEach, test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { type BlobStore, type NewBlob, SHARDS } from '#blobs/blob.ts'
import { createFsStore } from '#blobs/fs-store.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import {
  ACCOUNT,
  type Store,
  attributes,
  brokenInvariants,
  inlineObject,
  makeBucket,
  openStore,
  part,
  readVersion,
} from '#storage/objects/store.fixture.ts'
import { collectGarbage } from './collect-garbage.ts'
import { expireObjects } from './expire-objects.ts'
import { expireUploads, forgetCompletions } from './expire-uploads.ts'
import { beginMove, loadMove, stopMove } from './move-order.ts'
import { moveAsOrdered } from './mover.ts'
import { savePlace } from './place.ts'
import { scrub } from './scrub.ts'
import { lookAtBuckets } from './standing.ts'
import { createBlobStores, storeOf } from '#blobs/stores.ts'
import { sweepOrphans } from './sweep-orphans.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const DAY_MS = 86_400_000
const folder = mkdtempSync(join(tmpdir(), 'ergon-upkeep-'))
let server: TestUrl
let store: Store
let one: BlobStore
let two: BlobStore

before(async () => {
  if (skip !== false) return
  server = await openTestUrl()
  store = await openStore(server.of, 4)
  const given = { log: createLogger('test', { write: () => {} }), clock: systemClock }
  one = await createFsStore({ ...given, folder: join(folder, 'one'), location: 'one' })
  two = await createFsStore({ ...given, folder: join(folder, 'two'), location: 'two' })
})
beforeEach(async () => {
  if (skip !== false) return
  await store.state.query(
    `truncate buckets, bucket_usage, object_versions, uploads, upload_parts, blobs, blob_garbage,
       storage_upkeep`,
  )
})
after(async () => {
  await store?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
const stores = () => createBlobStores([one, two])
const fileOf = (blob: NewBlob) => join(folder, blob.location, blob.id.slice(0, 2), blob.id)
const later = (ms: number) => ({ ...systemClock, wallMs: () => Date.now() + ms })

const putBlob = (bytes: Buffer) => one.put(Readable.from([bytes]), { signal, sizeMax: 1_000_000 })
async function putObject(
  bucket: Awaited<ReturnType<typeof makeBucket>>,
  key: string,
  bytes: Buffer,
) {
  const blob = await putBlob(bytes)
  const parts = [{ ...part(1, bytes.length, key), blob }]
  await store.objects.put(bucket, key, {
    attributes: attributes(key, bytes.length),
    body: { kind: 'parts', parts },
  })
  return blob
}
async function readObject(bucket: Awaited<ReturnType<typeof makeBucket>>, key: string) {
  const { body } = await readVersion(store, bucket, { key })
  assert.ok(body.kind === 'parts' && body.parts[0] !== undefined)
  const { blob } = body.parts[0]
  return buffer(await storeOf(stores(), blob).get(blob, { signal }))
}
const remove = (bucket: Awaited<ReturnType<typeof makeBucket>>, key: string) =>
  store.objects.delete(bucket, [{ key }], { bypassGovernance: false })

test('collectGarbage() removes what nobody names, when its hour is over', { skip }, async () => {
  const bucket = await makeBucket(store, 'garbage')
  const kept = await putObject(bucket, 'kept', randomBytes(10))
  const gone = await putObject(bucket, 'gone', randomBytes(10))
  await remove(bucket, 'gone')
  const deps = { state: store.state, store: one }
  assert.equal(await collectGarbage(deps, { limit: 10, signal }), 0)
  assert.ok(existsSync(fileOf(gone)))
  assert.equal(await collectGarbage(deps, { limit: 10, signal, graceMs: -1000 }), 1)
  assert.deepEqual([existsSync(fileOf(gone)), existsSync(fileOf(kept))], [false, true])
})

test('sweepOrphans() removes old files without a row, folder by folder', { skip }, async () => {
  const bucket = await makeBucket(store, 'orphans')
  const named = await putObject(bucket, 'named', randomBytes(10))
  const garbage = await putObject(bucket, 'garbage', randomBytes(10))
  await remove(bucket, 'garbage')
  const orphan = await putBlob(randomBytes(10))
  const sweep = async (clock: typeof systemClock, id: string) => {
    const before = SHARDS.at(SHARDS.indexOf(id.slice(0, 2)) - 1)
    await savePlace(store.state, 'sweep:one', before)
    const swept = await sweepOrphans({ state: store.state, store: one, clock }, { signal })
    assert.equal(swept.shard, id.slice(0, 2))
  }
  await sweep(systemClock, orphan.id)
  assert.ok(existsSync(fileOf(orphan)))
  for (const { id } of [orphan, named, garbage]) await sweep(later(1.1 * DAY_MS), id)
  assert.deepEqual(
    [orphan, named, garbage].map((blob) => existsSync(fileOf(blob))),
    [false, true, true],
  )
})

test('scrub() goes on where it ended and finds what is damaged or missing', { skip }, async () => {
  const bucket = await makeBucket(store, 'scrubbed')
  const blobs = []
  for (let n = 0; n < 5; n++) blobs.push(await putObject(bucket, `k${n}`, randomBytes(1000)))
  const [damaged, missing] = blobs
  assert.ok(damaged && missing)
  writeFileSync(fileOf(damaged), randomBytes(1000))
  rmSync(fileOf(missing))
  const found: string[] = []
  const deps = { state: store.state, store: one }
  for (let calls = 0; ; calls++) {
    const slice = await scrub(deps, { bytesMax: 2000, signal })
    assert.ok(slice.read <= 2000 && calls < 5)
    found.push(...slice.damaged.map(({ id }) => id))
    if (slice.done) break
  }
  assert.deepEqual(found.toSorted(), [damaged.id, missing.id].toSorted())
})

const deps = () => ({ state: store.state, stores: stores(), clock: systemClock })
const moveTo = async (to: string) => {
  await beginMove(store.state, to)
  await moveAsOrdered(deps(), signal)
  const order = await loadMove(store.state)
  return [order?.state, order?.moved, order?.damaged.map(({ id }) => id)]
}

test(
  'moveAsOrdered() copies, compares and changes the rows, there and back',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'moved')
    const bodies = Array.from({ length: 70 }, (_, n) => randomBytes(n * 1000))
    for (const [n, body] of bodies.entries()) await putObject(bucket, `k${n}`, body)
    assert.deepEqual(await moveTo('two'), ['done', 70, []])
    const readAll = async () => {
      for (const [n, body] of bodies.entries())
        assert.deepEqual(await readObject(bucket, `k${n}`), body)
    }
    await readAll()
    // Back again before the old copies were collected: they are no garbage then.
    assert.deepEqual(await moveTo('one'), ['done', 70, []])
    for (const [garbage, of] of [
      [0, one],
      [70, two],
    ] as const) {
      const all = { limit: 100, signal, graceMs: -1000 }
      assert.equal(await collectGarbage({ state: store.state, store: of }, all), garbage)
    }
    await readAll()
    assert.deepEqual(await brokenInvariants(store.state), [])
  },
)

test('moveAsOrdered() leaves what is damaged, says so, and moves the rest', { skip }, async () => {
  const bucket = await makeBucket(store, 'damaged')
  const [changed, short, missing] = [
    await putObject(bucket, 'changed', randomBytes(1000)),
    await putObject(bucket, 'short', randomBytes(1000)),
    await putObject(bucket, 'missing', randomBytes(1000)),
  ]
  await putObject(bucket, 'whole', randomBytes(1000))
  writeFileSync(fileOf(changed), randomBytes(1000))
  writeFileSync(fileOf(short), randomBytes(999))
  rmSync(fileOf(missing))
  const damaged = [changed.id, short.id, missing.id].toSorted()
  const [state, moved, found] = await moveTo('two')
  assert.deepEqual([state, moved, (found as string[]).toSorted()], ['done', 1, damaged])
  for (const id of damaged) assert.equal(await two.stat(id, signal), undefined)
  assert.equal((await readObject(bucket, 'whole')).length, 1000)
  assert.deepEqual(await brokenInvariants(store.state), [])
})

test(
  'moveAsOrdered() goes on after a failure, and stops when it is told to',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'interrupted')
    for (let n = 0; n < 9; n++) await putObject(bucket, `k${n}`, randomBytes(1000))
    let left = 6
    const failing: BlobStore = {
      ...two,
      put: (body, options) =>
        left-- > 0 ? two.put(body, options) : Promise.reject(new RangeError('the line is cut')),
    }
    const cut = { ...deps(), stores: createBlobStores([one, failing]) }
    await beginMove(store.state, 'two')
    await assert.rejects(moveAsOrdered(cut, signal), RangeError)
    const waiting = await loadMove(store.state)
    assert.deepEqual([waiting?.state, waiting?.failure], ['moving', 'the line is cut'])
    assert.equal(await stopMove(store.state), true)
    await moveAsOrdered(deps(), signal)
    const at = "select count(*)::int as n from blobs where location = 'two'"
    const [{ n = 0 } = {}] = (await store.state.query<{ n: number }>(at)).rows
    // Of six that arrived three may have been given up with the one that failed.
    assert.ok(n >= 3 && n <= 6 && n === waiting?.moved, `${n} are moved`)
    assert.deepEqual(await moveTo('two'), ['done', 9 - n, []])
    assert.deepEqual(await brokenInvariants(store.state), [])
  },
)

test('moveAsOrdered() stops in the middle when it is told to', { skip }, async () => {
  const bucket = await makeBucket(store, 'stopped')
  for (let n = 0; n < 70; n++) await putObject(bucket, `k${n}`, Buffer.from('x'))
  const stopping: BlobStore = {
    ...two,
    async put(body, options) {
      await stopMove(store.state)
      return await two.put(body, options)
    },
  }
  await beginMove(store.state, 'two')
  await moveAsOrdered({ ...deps(), stores: createBlobStores([one, stopping]) }, signal)
  const { rows } = await store.state.query("select from blobs where location = 'one'")
  assert.ok(rows.length > 0)
  assert.equal((await loadMove(store.state))?.state, 'stopped')
  assert.deepEqual(await moveTo('two'), ['done', rows.length, []])
})

test('moveAsOrdered() changes no row when other bytes arrived', { skip }, async () => {
  const bucket = await makeBucket(store, 'garbled')
  const bytes = randomBytes(1000)
  await putObject(bucket, 'k', bytes)
  const garbling: BlobStore = {
    ...two,
    async put(body, options) {
      const blob = await two.put(body, options)
      writeFileSync(fileOf(blob), randomBytes(1000))
      return blob
    },
  }
  await beginMove(store.state, 'two')
  const garbled = { ...deps(), stores: createBlobStores([one, garbling]) }
  await assert.rejects(moveAsOrdered(garbled, signal), { code: 'blob_damaged' })
  assert.deepEqual(await readObject(bucket, 'k'), bytes)
  const { rows } = await store.state.query('select location from blobs')
  assert.deepEqual(rows, [{ location: 'one' }])
})

test('two movers do not work at once', { skip }, async () => {
  const bucket = await makeBucket(store, 'twice')
  for (let n = 0; n < 9; n++) await putObject(bucket, `k${n}`, randomBytes(1000))
  let other: Promise<void> | undefined
  let puts = 0
  const counting: BlobStore = {
    ...two,
    async put(body, options) {
      puts++
      // The second mover is here while the first one holds its first blobs.
      if (other === undefined) {
        other = moveAsOrdered({ ...deps(), stores: createBlobStores([one, counting]) }, signal)
        await other
      }
      return await two.put(body, options)
    },
  }
  await beginMove(store.state, 'two')
  await moveAsOrdered({ ...deps(), stores: createBlobStores([one, counting]) }, signal)
  const order = await loadMove(store.state)
  assert.deepEqual([order?.state, order?.moved, puts], ['done', 9, 9])
  assert.deepEqual(await brokenInvariants(store.state), [])
})

test(
  'a blob that is deleted while it is moved leaves two copies to collect',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'deleted')
    const { id } = await putObject(bucket, 'k', randomBytes(1000))
    const deleting: BlobStore = {
      ...two,
      async put(body, options) {
        await remove(bucket, 'k')
        return await two.put(body, options)
      },
    }
    await beginMove(store.state, 'two')
    await moveAsOrdered({ ...deps(), stores: createBlobStores([one, deleting]) }, signal)
    const { rows } = await store.state.query('select location, id from blob_garbage order by 1')
    assert.deepEqual(rows, [
      { location: 'one', id },
      { location: 'two', id },
    ])
    assert.deepEqual(await brokenInvariants(store.state), [])
  },
)

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
    // More than a page of uploads that no rule chooses, before it.
    await store.state.query(
      `insert into uploads (id, bucket, key, initiator, initiated_at, attributes)
       select 'kept-' || n, bucket, 'kept-' || n, initiator, initiated_at - interval '1 hour', attributes
       from uploads, generate_series(1, 1001) n where bucket = $1`,
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
    assert.deepEqual(await brokenInvariants(store.state), [])
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
    const stored = async () =>
      (await lookAtBuckets(store.state, { minuteMs: 1, after: 0, limit: 9 })).map(
        ({ name, bytes }) => [name, bytes],
      )
    assert.deepEqual(await stored(), [['old-uploads', 17n]])
    const nowMs = Date.now() + 1000
    assert.equal(await expireUploads(store.state, { beforeMs: nowMs - DAY_MS, limit: 9 }), 0)
    assert.equal(await expireUploads(store.state, { beforeMs: nowMs, limit: 9 }), 1)
    assert.deepEqual(await stored(), [['old-uploads', 10n]])
    assert.equal(await forgetCompletions(store.state, { nowMs, limit: 9 }), 0)
    await complete()
    assert.equal(await forgetCompletions(store.state, { nowMs: nowMs + DAY_MS, limit: 9 }), 1)
    await assert.rejects(complete(), { code: 'NoSuchUpload' })
    assert.deepEqual(await brokenInvariants(store.state), [])
  },
)
