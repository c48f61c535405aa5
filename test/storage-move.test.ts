// Bodies on an S3 store, which is another Ergon, or that of ERGON_TEST_STORE (s3-peers.ts): written there, moved there and back while writes go on and
// the mover is killed, refused while it is away, and never moved when they are not what was written.
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
import { readConfig } from '#config/config.ts'
import { SETTINGS, type RawSettings } from '#config/env.ts'
import { settleBlobStores } from '#processes/node/blob-stores.ts'
import { childrenOf } from './faults/processes.ts'
import { createPatience } from './s3-client.ts'
import { GO_PEERS, startS3Peer } from './s3-peers.ts'
import { startErgon, type Ergon } from './start-ergon.ts'

const MIB = 1_048_576
const WAIT_MS = 120_000
const Bucket = 'photos'
const LOGS = 'photos-logs'
const REGION = 'us-east-1'
const STORE = 's3://cloud-bodies/a'
const OTHER = 's3://other-bodies'

/** The store: how it is reached, and the processes that answer. */
type Store = {
  readonly url: string
  readonly key: { readonly accessKeyId: string; readonly secretAccessKey: string }
  /** Those that answer; stopped, it takes connections and says nothing. */
  pids(): Promise<number[]>
  answers(): Promise<boolean>
  stop(): Promise<void>
}

let store: Store
let cloud: Ergon
let upstream: S3Client
let isStoreStopped = false
let s3: S3Client
/** What must come back, by key. */
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

const keyOf = ({ token }: Ergon) => ({ accessKeyId: token, secretAccessKey: token })

async function startStore(): Promise<Store> {
  const name = process.env['ERGON_TEST_STORE']
  if (name !== undefined) {
    const program = GO_PEERS[name]
    assert.ok(program, `ERGON_TEST_STORE is one of ${Object.keys(GO_PEERS).join(', ')}`)
    const { url, keys, pid, close } = await startS3Peer(name, program)
    return {
      url,
      key: { accessKeyId: keys.id, secretAccessKey: keys.secret },
      pids: async () => [pid],
      answers: () =>
        fetch(url, { signal: AbortSignal.timeout(1000) }).then(
          () => true,
          () => false,
        ),
      stop: close,
    }
  }
  const ergon = await startErgon()
  return {
    url: ergon.baseUrl,
    key: keyOf(ergon),
    async pids() {
      const gateway = await ergon.pidOf('gw-1')
      const children = childrenOf(gateway)
      return [gateway, ...children, ...children.flatMap(childrenOf)]
    },
    answers: async () => (await fetch(`${ergon.baseUrl}/readyz`)).ok,
    stop: () => ergon.stop(),
  }
}

before(async () => {
  ;[store, cloud] = await Promise.all([startStore(), startErgon()])
  upstream = clientOf(store.url, store.key)
  s3 = clientOf(cloud.baseUrl, keyOf(cloud))
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
/** What a start on these settings finds of its stores. */
function settled(
  target: string,
  named: Readonly<Record<string, string>> = settingsOf(target),
): Promise<BlobSettings> {
  const raw = Object.entries(SETTINGS).map(([key, { name }]) => [key, named[name]])
  const query = async (text: string, values?: readonly unknown[]) => {
    const rows = await cloud.sql(text, values)
    return { rows: rows as never[], rowCount: rows.length }
  }
  return settleBlobStores({
    config: readConfig(Object.fromEntries(raw) as RawSettings, []),
    data: { at: (...names) => join(cloud.dataFolder, ...names) },
    state: { query },
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
    await pause(20)
  }
}

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
  for (let n = 0; n < 24; n++) await put(`many/${n}`, 100_000)
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
  // It cleans at its start, and then once a minute.
  await cloud.killCell('storage')
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

test('a move to the store survives kill -9 of the mover, while writes go on', async () => {
  const before = (await counts())['fs'] ?? 0
  assert.ok(before > 24)
  const moving = cloud.cli('storage', 'move', '--to', 's3', '--json')
  let isMoving = true
  const writing = (async () => {
    for (let n = 0; isMoving; n++) {
      await put(`during/${n % 20}`, 50_000)
      await s3.send(new DeleteObjectCommand({ Bucket, Key: `many/${n % 5}` }))
      bodies.delete(`many/${n % 5}`)
      await pause(100)
    }
  })()
  await until('it moves', async () => ((await counts())['fs'] ?? 0) < before - 6)
  await cloud.killCell('storage')
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
    cloud.control('POST', '/storage/move', { to: 'fs' }),
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
    await assert.rejects(bytesOf('new'), isSlowDown)
    await assert.rejects(put('refused', MIB), isSlowDown)
    await put('inline', 2000)
    assert.deepEqual((await settled(STORE)).locations, ['fs', STORE], 'it would start')
    assert.ok((await bytesOf('small')).equals(bodies.get('small') ?? Buffer.alloc(0)))
    assert.equal((await fetch(`${cloud.baseUrl}/readyz`)).status, 200)
  } finally {
    for (const pid of stopped) process.kill(pid, 'SIGCONT')
    isStoreStopped = false
  }
  await until('the store is back', () => store.answers())
  await assertAllThere(MIB)
})

test('each store may have a key of its own; bodies go from one to the other', async () => {
  await upstream.send(new CreateBucketCommand({ Bucket: 'other-bodies' }))
  await assert.rejects(settled(OTHER, settingsByStore(OTHER, OTHER)), {
    code: 'blob_location_unknown',
    message: /^Could not start: objects are in s3:\/\/cloud-bodies\/a, and neither/,
  })
  await cloud.restart(settingsByStore(OTHER, STORE, OTHER))
  const there = await cloud.cli('storage', 'move', '--json')
  assert.equal(there.code, 0, there.stderr)
  assert.deepEqual(Object.keys(await counts()), [OTHER])
  await assertAllThere()
})

test('a move back leaves what is damaged, and takes it when it is mended', async () => {
  const { id } = await blobOf('many/9')
  const place = { Bucket: 'other-bodies', Key: `${id.slice(0, 2)}/${id}` }
  const mended = bodies.get('many/9') ?? Buffer.alloc(0)
  await upstream.send(new PutObjectCommand({ ...place, Body: randomBytes(mended.length) }))
  await cloud.restart(settingsOf('fs'))
  const first = await cloud.cli('storage', 'move', '--json')
  assert.equal(first.code, 1)
  const { damaged } = JSON.parse(first.stdout) as { damaged: { id: string; location: string }[] }
  assert.deepEqual(
    damaged.map((blob) => [blob.id, blob.location]),
    [[id, OTHER]],
  )
  assert.equal((await counts())[OTHER], 1)
  await upstream.send(new PutObjectCommand({ ...place, Body: mended }))
  const second = await cloud.control<{ state: string }>('POST', '/storage/move', {})
  assert.equal(second.state, 'done')
  assert.deepEqual(Object.keys(await counts()), ['fs'])
  await assertAllThere()
  const file = join(cloud.dataFolder, 'blobs', id.slice(0, 2), id)
  assert.ok(readFileSync(file).equals(mended))
})
