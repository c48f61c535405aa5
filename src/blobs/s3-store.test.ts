import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { createLogger } from '#base/log.ts'
import { SHARDS } from './blob.ts'
import { createChecksum, PIECE_SIZE } from './checksum.ts'
import { createS3Client } from './s3-open.ts'
import { createS3Store } from './s3-store.ts'
import { startUpstream } from './upstream.fixture.ts'

const log = createLogger('test', { write: () => {} })
const { signal } = new AbortController()
const SIZE_MAX = 100_000_000

async function open(t: TestContext, putMs?: number) {
  const upstream = await startUpstream()
  const settings = { region: 'local', accessKeyId: 'a', secretAccessKey: 'b' }
  const client = createS3Client({ endpoint: upstream.url, ...settings }, putMs)
  t.after(async () => {
    client.destroy()
    await upstream[Symbol.asyncDispose]()
  })
  const store = createS3Store({ client, bucket: 'blobs', prefix: 'ergon', location: 's3', log })
  return { upstream, store }
}
function* pieces(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}

test('an upstream store gives back what it was given, in one piece and in parts', async (t) => {
  const { upstream, store } = await open(t)
  for (const size of [0, 10, 17 * 1024 * 1024]) {
    const bytes = randomBytes(size)
    const ref = await store.put(Readable.from(pieces(bytes)), { signal, sizeMax: SIZE_MAX })
    const sum = createChecksum()
    sum.update(bytes)
    assert.deepEqual([ref.size, ref.checksum, ref.location], [size, sum.text(), 's3'])
    assert.ok(upstream.objects.has(`/blobs/ergon/${ref.id.slice(0, 2)}/${ref.id}`))
    assert.ok((await buffer(await store.get(ref, { signal }))).equals(bytes))
    assert.equal((await store.stat(ref.id, signal))?.size, size)
    if (size === 0) continue
    const range = { first: 3, last: 7 }
    assert.deepEqual(await buffer(await store.get(ref, { signal, range })), bytes.subarray(3, 8))
    await store.delete(ref, signal)
    await store.delete(ref, signal)
    assert.equal(await store.stat(ref.id, signal), undefined)
    await assert.rejects(store.get(ref, { signal }), { code: 'blob_missing' })
  }
})

test('an upstream store lists a shard page by page', async (t) => {
  const { store } = await open(t)
  const ids = Array.from({ length: 5 }, (_, n) => `0a00000${n}-0000-4000-8000-000000000000`)
  const others = ['0b000000-0000-4000-8000-000000000000']
  for (const id of [...ids, ...others])
    await store.put(Readable.from([Buffer.from(id)]), { signal, sizeMax: 100, id })
  const found = []
  for await (const blob of store.list('0a', signal)) found.push([blob.id, blob.size])
  assert.deepEqual(
    found,
    ids.map((id) => [id, 36]),
  )
  assert.equal(SHARDS.length, 256)
})

test('a body that the upstream refuses, or that is too long, is not stored', async (t) => {
  const { upstream, store } = await open(t)
  const put = (sizeMax: number, stop = signal) =>
    store.put(Readable.from([randomBytes(100)]), { signal: stop, sizeMax })
  await assert.rejects(put(99), { code: 'body_too_large' })
  async function* failing() {
    yield randomBytes(10)
    throw new RangeError('the client is gone')
  }
  await assert.rejects(store.put(failing(), { signal, sizeMax: 100 }), RangeError)
  upstream.refuses = 507
  await assert.rejects(put(100), { code: 'storage_full' })
  upstream.refuses = 500
  await assert.rejects(put(100), { code: 'storage_away', status: 503, retryAfterS: 5 })
  await assert.rejects(put(100, AbortSignal.abort()), { name: 'AbortError' })
  assert.equal(upstream.objects.size, 0)
})

test('a store that breaks off is asked a second time, and one that says nothing is not', async (t) => {
  const { upstream, store } = await open(t, 500)
  const put = () => store.put(Readable.from([randomBytes(100)]), { signal, sizeMax: 100 })
  let asked = 0
  upstream.ends = (response) => {
    if (++asked === 1) response.destroy()
    return asked === 1
  }
  await put()
  assert.equal(asked, 2)
  asked = 0
  upstream.ends = () => ++asked > 0
  await assert.rejects(put(), { code: 'storage_away', status: 503, retryAfterS: 5 })
  assert.equal(asked, 1)
})

test('a blob that came back short is damaged', async (t) => {
  const { upstream, store } = await open(t)
  const ref = await store.put(Readable.from([randomBytes(100)]), { signal, sizeMax: 100 })
  for (const key of upstream.objects.keys()) upstream.objects.set(key, randomBytes(99))
  await assert.rejects(store.get(ref, { signal }), { code: 'blob_damaged' })
})

test('a byte that an upstream has changed is not given, neither whole nor by range', async (t) => {
  const { upstream, store } = await open(t)
  const bytes = randomBytes(3 * PIECE_SIZE + 5)
  const blob = await store.put(Readable.from(pieces(bytes)), { signal, sizeMax: SIZE_MAX })
  const read = async (range?: { first: number; last: number }) => {
    const given: Buffer[] = []
    const stream = await store.get(blob, { signal, ...(range && { range }) })
    const ended = await stream
      .forEach((chunk: Buffer) => void given.push(chunk))
      .catch((error: unknown) => error)
    return { given: Buffer.concat(given), ended }
  }
  const range = { first: 100, last: PIECE_SIZE + 100 }
  assert.ok((await read(range)).given.equals(bytes.subarray(100, PIECE_SIZE + 101)))
  const damaged = Buffer.from(bytes)
  damaged.writeUInt8(damaged.readUInt8(PIECE_SIZE + 7) ^ 1, PIECE_SIZE + 7)
  for (const key of upstream.objects.keys()) upstream.objects.set(key, damaged)
  for (const wanted of [undefined, range]) {
    const { given, ended } = await read(wanted)
    const from = wanted?.first ?? 0
    assert.ok(given.length <= PIECE_SIZE - from, 'at most the piece before')
    assert.ok(given.equals(bytes.subarray(from, from + given.length)))
    assert.equal((ended as { code?: string }).code, 'blob_damaged')
  }
  const after = { first: 2 * PIECE_SIZE, last: bytes.length - 1 }
  assert.ok((await read(after)).given.equals(bytes.subarray(2 * PIECE_SIZE)))
})
