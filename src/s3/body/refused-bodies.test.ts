// Bodies whose write is refused after they were received: real handlers on a real state and real files; something
// happens between a body and its commit.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import type { BlobStore } from '#blobs/blob.ts'
import { fault } from '#contract/errors.ts'
import { S3_OPERATIONS } from '#contract/storage/s3-operations.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { createBlobReader } from '#objects/blob-reader.ts'
import { createDamages } from '#objects/damage.ts'
import { createVault } from '#objects/encryption/vault.ts'
import {
  ACCOUNT,
  attributes,
  brokenRules,
  inlineObject,
  makeBucket,
  readVersion,
  type Store,
} from '#objects/store.fixture.ts'
import type { Bucket } from '#objects/types.ts'
import { createDeliver } from '#s3/logging/deliver.ts'
import type { StorageHandler, StorageRequest } from '#s3/call.ts'
import { createHashers } from '#s3/checksums/algorithms.ts'
import { createSumThread } from '#s3/checksums/sum-thread.ts'
import type { Parts } from '#s3/parts.ts'
import { createEncrypting } from '#s3/encryption/encrypting.ts'
import { createReceiver, type Receiver } from './receive.ts'
import { withBlobs } from '#objects/upkeep/upkeep.fixture.ts'
import { createCopyObject } from '#s3/objects/copy-object.ts'
import { createUploadPart } from '#s3/multipart/upload-part.ts'
import { createPostObject } from '#s3/post/post-object.ts'
import { createPutObject } from '#s3/objects/put-object.ts'
import { createUploadPartCopy } from '#s3/multipart/upload-part-copy.ts'

const skip = whyNoState()
const silent = createLogger('test', { write: () => {} })
const { signal } = new AbortController()
const BYTES = randomBytes(100_000)
const ENCRYPTED = { 'x-amz-server-side-encryption': 'AES256' }
let store: Store
let one: BlobStore
const { stores, filesOf } = withBlobs((opened) => ({ store, one } = opened))

type Meanwhile = () => Promise<unknown>
const nothing: Meanwhile = async () => undefined

/** A receiver that lets something happen after each body, and counts them. */
function receiving(meanwhile: Meanwhile) {
  const hashers = createHashers()
  // Bodies of one batch are summed in line: no thread is begun.
  const marks = { join: () => assert.fail('bodies are small') }
  const sumThread = createSumThread({ marks, hashers, clock: systemClock, log: silent })
  const inner = createReceiver({ blobs: one, local: one, hashers, sumThread })
  let received = 0
  const then = async <T>(body: Promise<T>) => {
    const taken = await body
    received++
    await meanwhile()
    return taken
  }
  const receiver: Receiver = {
    ...inner,
    receive: (...given) => then(inner.receive(...given)),
    take: (...given) => then(inner.take(...given)),
  }
  return { receiver, received: () => received }
}

function depsOf(bucket: Bucket, receiver: Receiver, more: object = {}): Parts {
  const vault = createVault({ secret: 's', keyIds: [], versionOf: () => 1 })
  return {
    access: {
      bucket: async () => bucket,
      bucketOfUpload: async (_: StorageRequest, judged: (found: Bucket) => unknown) => {
        await judged(bucket)
        return bucket
      },
      find: async () => bucket,
      allows: () => true,
      source: async () => ({ bucket, ...(await readVersion(store, bucket, { key: 'source' })) }),
    },
    objects: store.objects,
    uploads: store.uploads,
    annotations: store.annotations,
    receiver,
    blobs: createBlobReader({
      stores: stores(),
      finds: store.pipeline,
      damages: createDamages({ state: store.state, log: silent }),
    }),
    admitTransfer: async () => undefined,
    attributesOf: async () => attributes('', 0),
    encrypting: createEncrypting(vault),
    settings: {},
    clock: systemClock,
    ...more,
  } as unknown as Parts
}

type Asked = { headers?: object; key?: string; query?: Record<string, string>; body?: Buffer }

function requestOf(
  bucket: Bucket,
  { headers = {}, key = 'k', query = {}, body = BYTES }: Asked = {},
) {
  const payload = {
    signed: { payload: undefined, seed: undefined },
    async *source() {
      yield body
    },
  }
  return {
    signal,
    caller: { account: bucket.account },
    spend: { mark() {} },
    body: {
      headers: { 'content-length': String(body.length), ...headers },
      target: { bucket: bucket.name, key, query: new Map(Object.entries(query)) },
      match: { operation: 'put-object', row: S3_OPERATIONS['put-object'] },
      client: { address: '127.0.0.1', isSecure: true },
      trace: {},
      payload,
    },
  } as unknown as StorageRequest
}

// Not through the store's list(), which took half of this file's CPU.
const files = () => filesOf('one')

/** Empties the store of files, so that what a test finds is its own. */
async function fresh(name: string): Promise<Bucket> {
  for (const id of files()) await one.delete({ id }, signal)
  return await makeBucket(store, name)
}

async function idsOf(table: 'blobs' | 'blob_garbage'): Promise<string[]> {
  const { rows } = await store.state.query<{ id: string }>(
    `select id from ${table} where location = 'one' order by id`,
  )
  return rows.map(({ id }) => id)
}

/** So many bodies are garbage, and every other file is named. */
async function assertGarbage(count: number): Promise<void> {
  const garbage = await idsOf('blob_garbage')
  assert.equal(garbage.length, count)
  assert.deepEqual(files(), [...(await idsOf('blobs')), ...garbage].toSorted())
  assert.deepEqual(await brokenRules(store.state), [])
}

const put = (bucket: Bucket) => store.objects.put(bucket, 'k', inlineObject('meanwhile'))
const remove = (bucket: Bucket) =>
  store.objects.delete(bucket, [{ key: 'k' }], { bypassGovernance: false })

for (const encryption of [{}, ENCRYPTED])
  test(
    `PutObject leaves garbage where a condition no longer holds ${JSON.stringify(encryption)}`,
    { skip },
    async () => {
      const bucket = await fresh('conditions')
      const headers = { ...encryption, 'if-none-match': '*' }
      const { receiver, received } = receiving(() => put(bucket))
      const asked = createPutObject(depsOf(bucket, receiver))(requestOf(bucket, { headers }))
      await assert.rejects(asked, { code: 'PreconditionFailed' })
      assert.equal(received(), 1)
      await assertGarbage(1)
      const gone = receiving(() => remove(bucket))
      const matching = requestOf(bucket, {
        headers: { ...encryption, 'if-match': '"e-meanwhile"' },
      })
      const second = createPutObject(depsOf(bucket, gone.receiver))(matching)
      await assert.rejects(second, { code: 'NoSuchKey' })
      await assertGarbage(2)
    },
  )

test('a put leaves no garbage, with a condition that holds and without', { skip }, async () => {
  const bucket = await fresh('put')
  const { receiver } = receiving(nothing)
  const handler = createPutObject(depsOf(bucket, receiver))
  await handler(requestOf(bucket, { headers: { 'if-none-match': '*' } }))
  await assertGarbage(0)
  const { version } = await readVersion(store, bucket, { key: 'k' })
  await handler(requestOf(bucket, { headers: { 'if-match': `"${version.etag}"` } }))
  assert.deepEqual(files().length, 2)
  await assertGarbage(1)
})

test(
  'a body that comes after its bucket went is garbage, of a form and a log too',
  { skip },
  async () => {
    const bucket = await fresh('deleted')
    const { receiver } = receiving(() => store.buckets.delete(bucket).catch(() => undefined))
    const deps = depsOf(bucket, receiver)
    const code = 'NoSuchBucket'
    await assert.rejects(createPutObject(deps)(requestOf(bucket)), { code })
    await assertGarbage(1)
    const boundary = 'b'
    const form = [
      `--${boundary}\r\ncontent-disposition: form-data; name="key"\r\n\r\nk\r\n`,
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n${'x'.repeat(50_000)}\r\n`,
      `--${boundary}--\r\n`,
    ].join('')
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
    const posted = requestOf(bucket, { headers, body: Buffer.from(form) })
    await assert.rejects(createPostObject(deps)(posted), { code })
    await assertGarbage(2)
    const deliver = createDeliver({
      ...deps,
      buckets: { ...store.buckets, get: async () => bucket },
      during: (_, work, signal) => work({ mark() {}, claim() {}, claimThread() {} }, signal),
    })
    const logging = { bucket: bucket.name, prefix: '', format: 'simple' as const }
    const times = { bytes: 50_000, eventTimeMs: 0, deliveryTimeMs: 0 }
    const batch = { bucket, logging, lines: ['x'.repeat(50_000)], unique: 'u', ...times }
    await assert.rejects(deliver(batch, signal), { code })
    await assertGarbage(3)
  },
)

/** Puts what copies read. */
async function putSource(bucket: Bucket): Promise<void> {
  const { receiver } = receiving(nothing)
  await createPutObject(depsOf(bucket, receiver))(requestOf(bucket, { key: 'source' }))
}

test(
  'a part of an upload that was aborted meanwhile is garbage, sent or copied',
  { skip },
  async () => {
    const bucket = await fresh('aborted')
    await putSource(bucket)
    const ways: [(deps: Parts) => StorageHandler, object][] = [
      [createUploadPart, {}],
      [createUploadPartCopy, { 'x-amz-copy-source': 'aborted/source' }],
    ]
    for (const [at, [create, headers]] of ways.entries())
      for (const encryption of [null, { kind: 'SSE-S3' }]) {
        const upload = await store.uploads.create(bucket, {
          key: 'k',
          initiator: ACCOUNT,
          attributes: { ...attributes('', 0), checksums: {}, encryption },
        })
        const name = { key: 'k', uploadId: upload.id }
        const { receiver } = receiving(() => store.uploads.abort(bucket, name))
        const query = { uploadId: upload.id, partNumber: '1' }
        const asked = create(depsOf(bucket, receiver))(requestOf(bucket, { headers, query }))
        await assert.rejects(asked, { code: 'NoSuchUpload' })
        await assertGarbage(2 * at + (encryption === null ? 1 : 2))
      }
  },
)

test('a copy whose bytes were written is garbage when it is refused', { skip }, async () => {
  const bucket = await fresh('copied')
  await putSource(bucket)
  const headers = { ...ENCRYPTED, 'x-amz-copy-source': 'copied/source', 'if-none-match': '*' }
  const { receiver } = receiving(() => put(bucket))
  const copy = createCopyObject(depsOf(bucket, receiver))
  await assert.rejects(copy(requestOf(bucket, { headers })), { code: 'PreconditionFailed' })
  await assertGarbage(1)
  // Now it is known before a byte is read.
  await assert.rejects(copy(requestOf(bucket, { headers })), { code: 'PreconditionFailed' })
  await assertGarbage(1)
  // One that shares the bytes of its source takes them from nobody.
  const shared = { 'x-amz-copy-source': 'copied/source', 'if-none-match': '*' }
  await assert.rejects(copy(requestOf(bucket, { headers: shared })), { code: 'PreconditionFailed' })
  await assertGarbage(1)
})

test(
  'a copy that fails before its commit leaves garbage, whatever it fails by',
  { skip },
  async () => {
    const bucket = await fresh('annotated')
    await putSource(bucket)
    const { version, body } = await readVersion(store, bucket, { key: 'source' })
    const sheet = { sheet: 1, key: null, count: 1, bytes: 1, changed: 1 }
    const access = {
      bucket: async () => bucket,
      allows: () => true,
      source: async () => ({ bucket, body, version: { ...version, annotations: sheet } }),
    }
    const copying = async () => Promise.reject(new TypeError('the client is gone'))
    const { receiver } = receiving(nothing)
    const deps = depsOf(bucket, receiver, { access, annotations: { copy: copying } })
    const headers = { ...ENCRYPTED, 'x-amz-copy-source': 'annotated/source' }
    const encrypting = { ...deps.encrypting, rootForCopy: () => null }
    const copy = createCopyObject({ ...deps, encrypting })
    await assert.rejects(copy(requestOf(bucket, { headers })), TypeError)
    await assertGarbage(1)
  },
)

test('a lost answer of the state discards nothing, done or not', { skip }, async () => {
  const bucket = await fresh('lost')
  const lost = () => Promise.reject(fault('state_unavailable', 'Could not ask the state'))
  const code = 'state_unavailable'
  const { receiver } = receiving(nothing)
  const asked = (put: Parts['objects']['put']) =>
    createPutObject(depsOf(bucket, receiver, { objects: { ...store.objects, put } }))(
      requestOf(bucket),
    )
  await assert.rejects(
    asked(async (...given) => {
      await store.objects.put(...given)
      return await lost()
    }),
    { code },
  )
  await assertGarbage(0)
  assert.equal((await readVersion(store, bucket, { key: 'k' })).version.size, BYTES.length)
  await assert.rejects(asked(lost), { code })
  assert.deepEqual(await idsOf('blob_garbage'), [])
  assert.equal(files().length, 2)
})

test(
  'a blob that a row names is discarded by nobody, and one that cannot be discarded is told by nobody',
  { skip },
  async () => {
    const bucket = await fresh('named')
    await putSource(bucket)
    const { body } = await readVersion(store, bucket, { key: 'source' })
    assert.ok(body.kind === 'parts')
    await store.objects.discard(body.parts.map(({ blob }) => blob))
    await assertGarbage(0)
    const { receiver } = receiving(() => put(bucket))
    const discard = () => Promise.reject(fault('state_unavailable', 'Could not ask the state'))
    const deps = depsOf(bucket, receiver, { objects: { ...store.objects, discard } })
    const headers = { 'if-none-match': '*' }
    const asked = createPutObject(deps)(requestOf(bucket, { headers }))
    await assert.rejects(asked, { code: 'PreconditionFailed' })
  },
)

test(
  'a condition that does not hold is told before the body is read, and costs only who has one',
  { skip },
  async () => {
    const bucket = await fresh('early')
    await put(bucket)
    const { receiver, received } = receiving(nothing)
    const handler = createPutObject(depsOf(bucket, receiver))
    const refused = (key: string, headers: object, code: string) =>
      assert.rejects(handler(requestOf(bucket, { key, headers })), { code })
    await refused('k', { 'if-none-match': '*' }, 'PreconditionFailed')
    await refused('k', { 'if-none-match': '"e-meanwhile"' }, 'PreconditionFailed')
    await refused('k', { 'if-match': '"another"' }, 'PreconditionFailed')
    await refused('absent', { 'if-match': '"another"' }, 'NoSuchKey')
    await refused('absent', { 'if-match': '*' }, 'NoSuchKey')
    await store.buckets.setVersioning(bucket, 'enabled')
    await remove(bucket)
    await refused('k', { 'if-match': '"e-meanwhile"' }, 'NoSuchKey')
    assert.equal(received(), 0)
    assert.deepEqual(files(), [])
    await handler(requestOf(bucket, { headers: { 'if-none-match': '*' } }))
    assert.equal(received(), 1)
    const check = () => assert.fail('nothing is to be asked')
    const deps = depsOf(bucket, receiver, { objects: { ...store.objects, check } })
    await createPutObject(deps)(requestOf(bucket))
    assert.equal(received(), 2)
  },
)
