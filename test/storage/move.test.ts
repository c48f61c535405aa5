// Bodies on an S3 store, which is the gateway of another Ergon, or that of ERGON_TEST_STORE (s3-peers.ts). They are
// written there, moved there and back while writes go on and the mover is killed, refused while the store is away,
// and never moved when they differ from the bytes written.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutBucketLoggingCommand,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
  type LoggingEnabled,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { createLogger } from '#base/log.ts'
import { claimS3Store } from '#blobs/s3-open.ts'
import type { BlobSettings } from '#blobs/stores.ts'
import { readSettings } from '#config/config.ts'
import type { RawSettings } from '#config/env.ts'
import { SETTINGS } from '#config/settings.ts'
import { settleBlobStores } from '#objects/settle-blob-stores.ts'
import { beginMove, loadMove, MOVE_TASK } from '#objects/upkeep/move-order.ts'
import { startTask } from '#tasks/admin.ts'
import { startStore, type Store } from './move-store.ts'
import { createPatience } from '../s3-client.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'

const MIB = 1_048_576
const WAIT_MS = 120_000
/** Bodies that take the mover a while. */
const MANY = 12
const Bucket = 'photos'
const LOGS = 'photos-logs'
const REGION = 'us-east-1'
const CLEAN_TASK = 'objects.clean'
const STORE = 's3://cloud-bodies/a'
const OTHER = 's3://other-bodies'

let store: Store
let cloud: Ergon
let upstream: S3Client
let isStoreStopped = false
let s3: S3Client
/** The expected bodies, by key. */
const bodies = new Map<string, Buffer>()

const clientOf = (endpoint: string, credentials: Store['key']): S3Client =>
  new S3Client({
    endpoint,
    region: REGION,
    forcePathStyle: true,
    // A store that is slow for a moment is the machine's; one that is stopped is the test's.
    retryStrategy: createPatience(({ name }) => name === 'SlowDown' && !isStoreStopped),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    credentials,
  })

before(async () => {
  ;[store, cloud] = await Promise.all([startStore(), startErgon()])
  upstream = clientOf(store.url, store.key)
  s3 = clientOf(cloud.baseUrl, { accessKeyId: cloud.token, secretAccessKey: cloud.token })
  await upstream.send(new CreateBucketCommand({ Bucket: 'cloud-bodies' }))
  await s3.send(new CreateBucketCommand({ Bucket }))
})
after(async () => {
  for (const client of [upstream, s3]) client?.destroy()
  await cloud?.stop()
  await store?.stop()
})

const settingsOf = (target: string) => ({
  ERGON_STORAGE_BLOBS: target,
  ERGON_STORAGE_S3_ENDPOINT: store.url,
  ERGON_STORAGE_S3_REGION: REGION,
  ERGON_STORAGE_S3_KEY: `${store.key.accessKeyId}:${store.key.secretAccessKey}`,
})

/** The same, with a key for each of these stores and none for all. */
const settingsByStore = (target: string, ...stores: readonly string[]) => ({
  ERGON_STORAGE_BLOBS: target,
  ERGON_STORAGE_S3_STORES: JSON.stringify(
    stores.map((name) => ({
      store: name,
      endpoint: store.url,
      region: REGION,
      key: settingsOf(name).ERGON_STORAGE_S3_KEY,
    })),
  ),
})

const { signal } = new AbortController()
const state = {
  query: async (text: string, values?: readonly unknown[]) => {
    const rows = await cloud.sql(text, values)
    return { rows: rows as never[], rowCount: rows.length }
  },
}

/** The stores that a start with these settings finds. */
function settled(
  target: string,
  named: Readonly<Record<string, string>> = settingsOf(target),
): Promise<BlobSettings> {
  const raw = Object.entries(SETTINGS).map(([key, { name }]) => [key, named[name]])
  return settleBlobStores({
    config: readSettings(Object.fromEntries(raw) as RawSettings, []),
    data: { at: (...names) => join(cloud.dataFolder, ...names) },
    state,
    log: createLogger('test', { write: () => {} }),
    signal,
  })
}

async function put(key: string, size: number): Promise<void> {
  const body = randomBytes(size)
  const params = { Bucket, Key: key, Body: body }
  if (size < 16 * MIB) await s3.send(new PutObjectCommand(params))
  else await new Upload({ client: s3, params, partSize: 11 * MIB }).done()
  bodies.set(key, body)
}

async function bytesOf(key: string, Range?: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key: key, Range }))
  return Buffer.from((await Body?.transformToByteArray()) ?? [])
}

/** The largest are read after the moves alone. */
async function assertAllThere(sizeMax = Number.POSITIVE_INFINITY): Promise<void> {
  for (const [key, body] of bodies)
    if (body.length <= sizeMax) assert.ok((await bytesOf(key)).equals(body), key)
  const [invalid] = await cloud.sql(
    'select location, id from blob_garbage join blobs using (location, id)',
  )
  assert.equal(invalid, undefined, 'no garbage is named')
}

async function counts(): Promise<Record<string, number>> {
  const rows = await cloud.sql('select location, count(*) as n from blobs group by 1')
  return Object.fromEntries(rows.map(({ location, n }) => [location, Number(n)]))
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, what)
    await pause(50)
  }
}

/** Starts a run of a task that sees what was written before, where the next one is up to a minute away. */
const startNow = (task: string) =>
  until(`${task} begins`, async () => (await startTask(state, task))?.running === false)

/** Where a blob of an object is. */
async function blobOf(key: string): Promise<{ id: string; location: string }> {
  const [blob] = await cloud.sql<{ id: string; location: string }>(
    `select b.id, b.location from object_versions v, blobs b
     where v.key = $1 and b.id = (v.parts -> 0 ->> 'blob')::uuid`,
    [key],
  )
  assert.ok(blob, `${key} has a blob`)
  return blob
}

test('a store that cannot be used is refused at the start, and nothing changes', async () => {
  await put('none', 0)
  await put('small', 1000)
  await put('old', 2 * MIB)
  // Two bodies that the store gets in parts, too.
  await put('parts', 22 * MIB)
  for (let n = 0; n < MANY; n++) await put(`many/${n}`, 100_000)
  await assert.rejects(settled('s3://no-such-bucket/a'), {
    code: 'blob_store_refused',
    message: /^Could not use the blob store s3:\/\/no-such-bucket\/a: NoSuchBucket/,
  })
  assert.deepEqual((await settled('fs')).locations, ['fs'])
  const settings = { endpoint: store.url, region: REGION, ...store.key }
  const claim = (location: string, owner: string, more: object = {}, isUsed = false) =>
    claimS3Store(location, { ...settings, ...more }, { owner, isUsed, signal })
  await claim('s3://cloud-bodies/other', 'one')
  await claim('s3://cloud-bodies/other', 'one')
  await assert.rejects(claim('s3://cloud-bodies/other', 'two'), { code: 'blob_store_refused' })
  const unmarked = claim('s3://cloud-bodies/unmarked', 'one', {}, true)
  await assert.rejects(unmarked, { code: 'blob_store_refused' })
  const wrong = { secretAccessKey: 'x' }
  await assert.rejects(claim(STORE, 'one', wrong), { code: 'blob_store_refused' })
  const nobody = { endpoint: 'http://127.0.0.1:9' }
  await assert.rejects(claim(STORE, 'one', nobody), { code: 'blob_store_away' })
})

const setLog = (LoggingEnabled?: LoggingEnabled) =>
  s3.send(new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: { LoggingEnabled } }))

test('an orderly stop delivers the lines of access logs', async () => {
  await s3.send(new CreateBucketCommand({ Bucket: LOGS }))
  await setLog({ TargetBucket: LOGS, TargetPrefix: '' })
  await put('logged', 10)
  await cloud.restart(settingsOf(STORE))
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: LOGS }))
  assert.equal(Contents.length, 1)
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: LOGS, Key: Contents[0]?.Key }))
  assert.match((await Body?.transformToString()) ?? '', / REST\.PUT\.OBJECT logged /)
  await setLog()
})

test('new bodies go to the store, old ones are still read', async () => {
  await put('new', 2 * MIB)
  await put('new-small', 1000)
  assert.equal((await blobOf('new')).location, STORE)
  assert.equal((await blobOf('old')).location, 'fs')
  await assertAllThere(MIB)
  const all = bodies.get('new') ?? Buffer.alloc(0)
  const range = await bytesOf('new', 'bytes=1000000-1000099')
  assert.deepEqual(range, all.subarray(1_000_000, 1_000_100))
  await s3.send(new CopyObjectCommand({ Bucket, Key: 'copied', CopySource: `${Bucket}/new` }))
  bodies.set('copied', all)
  assert.ok((await bytesOf('copied')).equals(all))
})

test('a body that nobody names any more is removed from the store', async () => {
  await put('gone', MIB)
  const { id } = await blobOf('gone')
  const there = () =>
    upstream.send(
      new GetObjectCommand({ Bucket: 'cloud-bodies', Key: `a/${id.slice(0, 2)}/${id}` }),
    )
  await (await there()).Body?.transformToByteArray()
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'gone' }))
  bodies.delete('gone')
  await cloud.sql("update blob_garbage set since = since - interval '2 hours'")
  await startNow(CLEAN_TASK)
  const isGone = () =>
    there().then(
      async ({ Body }) => {
        await Body?.transformToByteArray()
        return false
      },
      (error: unknown) => error instanceof S3ServiceException && error.name === 'NoSuchKey',
    )
  await until('the blob is removed', isGone)
})

/** Holds the row of the blob that a mover comes to last: it cannot come to its end. */
async function holdLast() {
  const holding = `select pg_sleep(${WAIT_MS / 1000}) from
    (select from blobs where location = 'fs' order by id desc limit 1 for update) held`
  const held = assert.rejects(cloud.sql(holding), /canceling statement/)
  const others = `from pg_stat_activity where query = $1 and pid <> pg_backend_pid()`
  const isHeld = `select 1 ${others} and wait_event = 'PgSleep'`
  await until('the row is held', async () => (await cloud.sql(isHeld, [holding])).length > 0)
  return {
    async letGo() {
      await cloud.sql(`select pg_cancel_backend(pid) ${others}`, [holding])
      await held
    },
  }
}

test('a move to the store survives kill -9 of the mover, while writes go on', async () => {
  const before = (await counts())['fs'] ?? 0
  assert.ok(before > MANY)
  const last = await holdLast()
  const moving = cloud.cli('storage', 'move', '--to', 's3', '--json')
  let isMoving = true
  const writing = (async () => {
    for (let n = 0; isMoving; n++) {
      await put(`during/${n % 8}`, 50_000)
      await s3.send(new DeleteObjectCommand({ Bucket, Key: `many/${n % 5}` }))
      bodies.delete(`many/${n % 5}`)
      await pause(100)
    }
  })()
  await until('it moves', async () => ((await counts())['fs'] ?? 0) < before - MANY / 3)
  assert.doesNotMatch(cloud.stderr(), /mover was not told/)
  await cloud.killCell('tasks')
  assert.ok(((await counts())['fs'] ?? 0) > 0, 'it was killed in the middle')
  await last.letGo()
  const { code, stdout, stderr } = await moving
  isMoving = false
  await writing
  assert.equal(code, 0, stderr)
  const result = JSON.parse(stdout) as { state: string; to: string; moved: number }
  assert.deepEqual([result.state, result.to], ['done', STORE])
  assert.ok(result.moved > 0)
  assert.deepEqual(Object.keys(await counts()), [STORE])
  await assertAllThere()
  await assert.rejects(
    cloud.control('storage.move', { to: 'fs' }),
    /new ones go to s3:.*ERGON_STORAGE_BLOBS/,
  )
})

test('while the store is away its objects are 503, the others go on, and then it is back', async () => {
  const stopped = await store.pids()
  for (const pid of stopped) process.kill(pid, 'SIGSTOP')
  isStoreStopped = true
  const isSlowDown = (error: unknown): boolean => {
    assert.ok(error instanceof S3ServiceException, String(error))
    assert.deepEqual([error.name, error.$metadata.httpStatusCode], ['SlowDown', 503])
    assert.equal(error.$response?.headers['retry-after'], '5')
    return true
  }
  try {
    // Each waits for its own time without an answer.
    const refused = Promise.all([
      assert.rejects(bytesOf('new'), isSlowDown),
      assert.rejects(put('refused', MIB), isSlowDown),
      settled(STORE),
    ])
    await put('inline', 2000)
    assert.ok((await bytesOf('small')).equals(bodies.get('small') ?? Buffer.alloc(0)))
    assert.equal((await fetch(`${cloud.baseUrl}/readyz`)).status, 200)
    const [, , { locations }] = await refused
    assert.deepEqual(locations, ['fs', STORE], 'it would start')
  } finally {
    for (const pid of stopped) process.kill(pid, 'SIGCONT')
    isStoreStopped = false
  }
  await until('the store is back', () => store.answers())
  await assertAllThere(MIB)
})

test('each store may have a key of its own; what is damaged stays until it is mended', async () => {
  await upstream.send(new CreateBucketCommand({ Bucket: 'other-bodies' }))
  await assert.rejects(settled(OTHER, settingsByStore(OTHER, OTHER)), {
    code: 'blob_location_unknown',
    message: /^Could not start: objects are in s3:\/\/cloud-bodies\/a, and neither/,
  })
  const { id } = await blobOf('many/9')
  const place = { Bucket: 'cloud-bodies', Key: `a/${id.slice(0, 2)}/${id}` }
  const mended = bodies.get('many/9') ?? Buffer.alloc(0)
  await upstream.send(new PutObjectCommand({ ...place, Body: randomBytes(mended.length) }))
  await cloud.restart(settingsByStore(OTHER, STORE, OTHER))
  const first = await cloud.cli('storage', 'move', '--json')
  assert.equal(first.code, 1, first.stderr)
  const { damaged } = JSON.parse(first.stdout) as { damaged: { id: string; location: string }[] }
  assert.deepEqual(
    damaged.map((blob) => [blob.id, blob.location]),
    [[id, STORE]],
  )
  assert.equal((await counts())[STORE], 1)
  await upstream.send(new PutObjectCommand({ ...place, Body: mended }))
  const second = await cloud.control('storage.move', {})
  assert.equal(second.state, 'done')
  assert.deepEqual(Object.keys(await counts()), [OTHER])
  await assertAllThere(MIB)
})

test('bodies go back into files', async () => {
  const { locations, target } = await settled('fs', settingsByStore('fs', OTHER))
  assert.deepEqual([locations, target], [['fs', OTHER], 'fs'])
  // The order that the operator's command gives where new bodies go there, which is one more start.
  await beginMove(state, 'fs')
  await startNow(MOVE_TASK)
  await until('they are moved', async () => (await loadMove(state))?.state === 'done')
  assert.deepEqual(Object.keys(await counts()), ['fs'])
  await assertAllThere()
  const { id } = await blobOf('many/9')
  const file = join(cloud.dataFolder, 'blobs', id.slice(0, 2), id)
  assert.ok(readFileSync(file).equals(bodies.get('many/9') ?? Buffer.alloc(0)))
})
