// The pieces of a round of cleaning: garbage and orphans go, and what is damaged is found.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { SHARDS, type BlobStore } from '#blobs/blob.ts'
import { createBlobStores } from '#blobs/stores.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { makeBucket, type Store } from '#objects/store.fixture.ts'
import type { Queryable, State } from '#state/connect.ts'
import { createDamages, raiseOnce } from '#objects/damage.ts'
import { createClean } from './clean.ts'
import { collectGarbage } from './collect-garbage.ts'
import { savePlace } from './place.ts'
import { scrub, type Damage } from './scrub.ts'
import { sweepOrphans } from './sweep-orphans.ts'
import { later, withBlobs } from './upkeep.fixture.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const DAY_MS = 86_400_000
let store: Store
let one: BlobStore
const { fileOf, putBlob, putObject, readObject, remove } = withBlobs(
  (opened) => ({ store, one } = opened),
)

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

/** Sweeps the folder that a file would lie in, as it is in so many days. */
async function sweep(days: number, id: string) {
  await savePlace(store.state, 'sweep:one', SHARDS.at(SHARDS.indexOf(id.slice(0, 2)) - 1))
  const clock = days === 0 ? systemClock : later(days * DAY_MS)
  const swept = await sweepOrphans({ state: store.state, store: one, clock }, { signal })
  assert.equal(swept.shard, id.slice(0, 2))
  return swept.found
}

const collect = (graceMs = -1000) =>
  collectGarbage({ state: store.state, store: one }, { limit: 10, signal, graceMs })
const passDays = (days: number) =>
  store.state.query(`update blob_garbage set since = since - $1 * interval '1 day'`, [days])

test('sweepOrphans() gives old files without a row a week', { skip }, async () => {
  const bucket = await makeBucket(store, 'orphans')
  const named = await putObject(bucket, 'named', randomBytes(10))
  const garbage = await putObject(bucket, 'garbage', randomBytes(10))
  await remove(bucket, 'garbage')
  const orphan = await putBlob(randomBytes(10))
  assert.equal(await sweep(0, orphan.id), 0)
  assert.equal(await sweep(1.1, orphan.id), 1)
  // Once known it is none that is found.
  for (const { id } of [orphan, named, garbage]) assert.equal(await sweep(1.1, id), 0)
  const left = () => [orphan, named, garbage].map((blob) => existsSync(fileOf(blob)))
  assert.equal(await collect(), 1)
  assert.deepEqual(left(), [true, true, false])
  await passDays(6.9)
  assert.equal(await collect(), 0)
  await passDays(0.1)
  assert.equal(await collect(), 1)
  assert.deepEqual(left(), [false, true, false])
})

test('blobs that an older state sweeps are there when a newer one is back', { skip }, async () => {
  const bucket = await makeBucket(store, 'restored')
  const bytes = randomBytes(10)
  const { id } = await putObject(bucket, 'written-after-the-dump', bytes)
  // The older state names none of the folder's files, those of other tests included.
  let files = 0
  for await (const _ of one.list(id.slice(0, 2), signal)) files++
  const tables = ['object_versions', 'blobs', 'blob_garbage']
  for (const table of tables)
    await store.state.query(`alter table ${table} rename to newer_${table}`)
  try {
    for (const table of tables)
      await store.state.query(`create table ${table} (like newer_${table} including all)`)
    assert.equal(await sweep(1.1, id), files)
    await passDays(1)
    assert.equal(await collect(), 0)
  } finally {
    for (const table of tables) {
      await store.state.query(`drop table if exists ${table}`)
      await store.state.query(`alter table newer_${table} rename to ${table}`)
    }
  }
  assert.deepEqual(await readObject(bucket, 'written-after-the-dump'), bytes)
})

test('collectGarbage() keeps what a row names in spite of it', { skip }, async () => {
  const bucket = await makeBucket(store, 'named-garbage')
  const bytes = randomBytes(10)
  const { id, location } = await putObject(bucket, 'named', bytes)
  await store.state.query('insert into blob_garbage values ($1, $2, 10, now())', [location, id])
  assert.equal(await collect(), 1)
  assert.deepEqual(await readObject(bucket, 'named'), bytes)
  assert.equal(await collect(), 0)
})

test('more orphans than a kill leaves are an alarm, once', { skip }, async () => {
  // An orphan of the tests before lies in the same folder in one of some hundred runs.
  await sweep(1.1, '7f')
  await passDays(8)
  await collect()
  const logged: string[] = []
  const clean = createClean({
    state: store.state,
    stores: createBlobStores([one]),
    clock: later(1.1 * DAY_MS),
    log: createLogger('test', { write: (line) => logged.push(line) }),
  })
  const round = async (more: number) => {
    for (let n = 0; n < more; n++) {
      const id = `7f${randomUUID().slice(2)}`
      await one.put(Readable.from([randomBytes(10)]), { signal, sizeMax: 10, id })
    }
    await savePlace(store.state, 'sweep:one', '7e')
    await clean(signal)
    const { rows } = await store.state.query(
      "select detail ->> 'waiting' as waiting from alarms where kind = 'blobs_unnamed'",
    )
    return rows.map(({ waiting }) => Number(waiting))
  }
  assert.deepEqual(await round(32), [])
  assert.match(logged.join(), /Bodies that no row names go in a week.*"found":32/)
  assert.deepEqual(await round(1), [33])
  assert.deepEqual(await round(5), [33])
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
  const onDamage = async ({ id }: Damage) => void found.push(id)
  for (let calls = 0; ; calls++) {
    const slice = await scrub(deps, { bytesMax: 2000, signal, onDamage })
    assert.ok(slice.read <= 2000 && calls < 5)
    if (slice.done) break
  }
  assert.deepEqual(found.toSorted(), [damaged.id, missing.id].toSorted())
})

test('scrub() finds damage again that nobody could be told of', { skip }, async () => {
  const bucket = await makeBucket(store, 'untold')
  const damaged = await putObject(bucket, 'damaged', randomBytes(1000))
  writeFileSync(fileOf(damaged), randomBytes(1000))
  const deps = { state: store.state, store: one }
  const untold = { bytesMax: 1, signal, onDamage: () => Promise.reject(new Error('away')) }
  await assert.rejects(scrub(deps, untold), /away/)
  const found: string[] = []
  const onDamage = async ({ id }: Damage) => void found.push(id)
  await scrub(deps, { bytesMax: 1, signal, onDamage })
  assert.deepEqual(found, [damaged.id])
})

test(
  'a checksum of a whole blob becomes one of its pieces where the blob is as it was',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'older-sums')
    const bytes = randomBytes(1000)
    const whole = await putObject(bucket, 'whole', bytes)
    const broken = await putObject(bucket, 'broken', bytes)
    const older = `crc32:${crc32(bytes).toString(16).padStart(8, '0')}`
    await store.state.query('update blobs set checksum = $1', [older])
    writeFileSync(fileOf(broken), randomBytes(1000))
    const found: string[] = []
    const onDamage = async ({ id }: Damage) => void found.push(id)
    await scrub({ state: store.state, store: one }, { bytesMax: 1e6, signal, onDamage })
    assert.deepEqual(found, [broken.id])
    const { rows } = await store.state.query('select id, checksum from blobs')
    assert.deepEqual(
      new Map(rows.map(({ id, checksum }) => [id, checksum])),
      new Map([
        [whole.id, whole.checksum],
        [broken.id, older],
      ]),
    )
  },
)

test(
  'a damaged blob is one alarm, whoever meets it, and a deleted one is none',
  { skip },
  async () => {
    await store.state.query('truncate alarms')
    const bucket = await makeBucket(store, 'told-once')
    const kept = await putObject(bucket, 'kept', randomBytes(1000))
    const gone = await putObject(bucket, 'gone', randomBytes(1000))
    await remove(bucket, 'gone')
    const logged: string[] = []
    const log = createLogger('test', { write: (line) => logged.push(line) })
    const damages = createDamages({ state: store.state, log })
    for (const blob of [kept, gone, kept]) await damages.tell(blob, 'found when it was read')
    writeFileSync(fileOf(kept), randomBytes(1000))
    const stores = createBlobStores([one])
    await createClean({
      state: store.state,
      stores,
      clock: systemClock,
      log,
    })(signal)
    const { rows } = await store.state.query(
      "select detail ->> 'id' as id, detail ->> 'found' as found from alarms where kind = 'blob_damaged'",
    )
    assert.deepEqual(rows, [{ id: kept.id, found: 'found when it was read' }])
    assert.deepEqual([logged.length, damages.met()], [1, 3])
  },
)

/** Runs `tell` on one connection, and again on another before the first one commits. */
async function tellTwiceAtOnce(tell: (state: Queryable) => Promise<unknown>): Promise<void> {
  const second = await store.state.transaction(async (first) => {
    await tell(first)
    const { rows } = await first.query('select pg_backend_pid() as pid')
    let isTold = false
    const telling = tell(store.state).finally(() => (isTold = true))
    const isWaiting = async () => {
      const blocked = 'select from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))'
      return (await store.state.query(blocked, [rows[0]?.['pid']])).rowCount > 0
    }
    while (!isTold && !(await isWaiting()));
    return { telling }
  })
  await second.telling
}

test('damage that two reads meet at once is one alarm', { skip }, async () => {
  await store.state.query('truncate alarms')
  const bucket = await makeBucket(store, 'met-at-once')
  const blobs = [
    await putObject(bucket, 'one', randomBytes(10)),
    await putObject(bucket, 'two', randomBytes(10)),
  ]
  const logged: string[] = []
  const log = createLogger('test', { write: (line) => logged.push(line) })
  for (const blob of blobs)
    await tellTwiceAtOnce((state) => createDamages({ state, log }).tell(blob, randomUUID()))
  for (const kind of ['body_damaged', 'page_damaged'] as const)
    for (const key of ['one', 'two'])
      await tellTwiceAtOnce((state) => raiseOnce(state, kind, { key }))
  const { rows } = await store.state.query(
    'select kind, count(*)::int as alarms from alarms group by kind order by kind',
  )
  assert.deepEqual(rows, [
    { kind: 'blob_damaged', alarms: 2 },
    { kind: 'body_damaged', alarms: 2 },
    { kind: 'page_damaged', alarms: 2 },
  ])
  assert.equal(logged.length, 2)
})

test('a piece of a round that fails keeps no other piece from its work', { skip }, async () => {
  await store.state.query('truncate alarms, annotation_garbage')
  const bucket = await makeBucket(store, 'pieces')
  const damaged = await putObject(bucket, 'damaged', randomBytes(1000))
  writeFileSync(fileOf(damaged), randomBytes(1000))
  const asked: string[] = []
  const state = {
    ...store.state,
    query: (text: string, values?: unknown[]) => {
      asked.push(text)
      return store.state.query(text, values)
    },
    transaction: () => Promise.reject(new Error('no transaction begins')),
  } as State
  const clean = createClean({
    state,
    stores: createBlobStores([one]),
    clock: systemClock,
    log: createLogger('test', { write: () => {} }),
  })
  await assert.rejects(clean(signal), /no transaction begins/)
  const { rows } = await store.state.query(
    "select detail ->> 'id' as id from alarms where kind = 'blob_damaged'",
  )
  assert.deepEqual(rows, [{ id: damaged.id }])
  assert.ok(asked.some((text) => text.includes('delete from storage_events')))
  assert.ok(asked.some((text) => text.includes('delete from uploads')))
})
