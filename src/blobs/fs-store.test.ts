import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { crc32 } from 'node:zlib'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { giveBack, isLent } from '#base/buffer-pool.ts'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { type BlobStore, type ByteRange, type NewBlob, SHARDS } from './blob.ts'
import { createChecksum, PIECE_SIZE } from './checksum.ts'
import type { BlobDisk } from './disk.ts'
import { createFsStore } from './fs-store.ts'
import { MemoryDisk } from './memory-disk.fixture.ts'
import { LARGE_READERS_MAX } from './read-buffers.ts'

const silent = createLogger('test', { write: () => {} })
const { signal } = new AbortController()
const SIZE_MAX = 10_000_000

const open = (folder: string, disk?: BlobDisk) =>
  createFsStore({ folder, location: 'fs', log: silent, clock: systemClock, ...(disk && { disk }) })

async function openReal(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-blobs-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const store = await open(folder)
  return { folder, store }
}
const put = (store: BlobStore, bytes: Buffer, chunkSize = 60_000) =>
  store.put(chunks(bytes, chunkSize), { signal, sizeMax: SIZE_MAX })
async function* chunks(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
const files = (folder: string) => SHARDS.flatMap((shard) => readdirSync(join(folder, shard)))
const code = (wanted: string) => (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === wanted

test('get() gives the bytes of put(), whole and by range', async (t) => {
  const { store } = await openReal(t)
  const bytes = randomBytes(1_000_001)
  const ref = await put(store, bytes)
  const sum = createChecksum()
  sum.update(bytes)
  assert.deepEqual([ref.size, ref.checksum], [bytes.length, sum.text()])
  assert.deepEqual(await buffer(await store.get(ref, { signal })), bytes)
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(600_000), async (first, length) => {
      const last = Math.min(first + length, bytes.length - 1)
      const got = await buffer(await store.get(ref, { signal, range: { first, last } }))
      assert.ok(got.equals(bytes.subarray(first, last + 1)))
    }),
    { numRuns: 20 },
  )
  const empty = await put(store, Buffer.alloc(0))
  assert.equal((await buffer(await store.get(empty, { signal }))).length, 0)
  await store.delete(ref, signal)
  await store.delete(ref, signal)
  await assert.rejects(store.get(ref, { signal }), code('blob_missing'))
  assert.equal(await store.stat(ref.id, signal), undefined)
})

test('a flipped byte is never given, neither whole nor by range', async (t) => {
  const { folder, store } = await openReal(t)
  const bytes = randomBytes(3 * PIECE_SIZE + 1000)
  const blob = await put(store, bytes)
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bytes.length - 1),
      fc.nat(bytes.length - 1),
      fc.nat(PIECE_SIZE),
      async (flipped, first, length) => {
        flip(folder, blob.id, flipped)
        const last = Math.min(first + length, bytes.length - 1)
        for (const range of [undefined, { first, last }]) {
          const { given, error } = await readUntilFault(store, blob, range)
          const from = range?.first ?? 0
          assert.ok(given.equals(bytes.subarray(from, from + given.length)))
          const isMet =
            range === undefined ||
            (Math.floor(flipped / PIECE_SIZE) >= Math.floor(first / PIECE_SIZE) &&
              Math.floor(flipped / PIECE_SIZE) <= Math.floor(last / PIECE_SIZE))
          assert.equal(isMet, error !== undefined)
          if (isMet) assert.ok(code('blob_damaged')(error))
        }
        flip(folder, blob.id, flipped)
      },
    ),
    { numRuns: 20 },
  )
  assert.deepEqual(await buffer(await store.get(blob, { signal })), bytes)
})

test('a blob with one sum of all its bytes is checked at its last bytes', async (t) => {
  const { folder, store } = await openReal(t)
  const bytes = randomBytes(2 * PIECE_SIZE + 1)
  const checksum = `crc32:${crc32(bytes).toString(16).padStart(8, '0')}`
  const blob = { ...(await put(store, bytes)), checksum }
  assert.deepEqual(await buffer(await store.get(blob, { signal })), bytes)
  flip(folder, blob.id, 5)
  const { given, error } = await readUntilFault(store, blob)
  assert.ok(code('blob_damaged')(error) && given.length < bytes.length)
  const range = { first: 10, last: 20 }
  assert.deepEqual(
    await buffer(await store.get(blob, { signal, range })),
    bytes.subarray(10, 21),
    'a range cannot be checked',
  )
})

function flip(folder: string, id: string, at: number): void {
  const path = join(folder, id.slice(0, 2), id)
  const bytes = readFileSync(path)
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
  writeFileSync(path, bytes)
}

async function readUntilFault(store: BlobStore, blob: NewBlob, range?: ByteRange) {
  const given: Buffer[] = []
  let error: unknown
  try {
    const stream = await store.get(blob, { signal, ...(range && { range }) })
    for await (const chunk of stream) given.push(chunk as Buffer)
  } catch (thrown) {
    error = thrown
  }
  return { given: Buffer.concat(given), error }
}

test('a body that is too long, fails or is aborted leaves no file', async (t) => {
  const { folder, store } = await openReal(t)
  const tooLong = store.put(chunks(randomBytes(700_000), 1000), { signal, sizeMax: 699_999 })
  await assert.rejects(tooLong, code('body_too_large'))
  async function* failing() {
    yield randomBytes(300_000)
    throw new TypeError('the client is gone')
  }
  await assert.rejects(store.put(failing(), { signal, sizeMax: SIZE_MAX }), TypeError)
  const stop = new AbortController()
  async function* aborting() {
    yield randomBytes(300_000)
    stop.abort()
    yield randomBytes(300_000)
  }
  const aborted = store.put(aborting(), { signal: stop.signal, sizeMax: SIZE_MAX })
  await assert.rejects(aborted, { name: 'AbortError' })
  assert.deepEqual(files(folder), [])
  assert.equal(store.fenced(), undefined)
})

test('a reader is refused a file of another size, and reads no further ahead than it needs', async (t) => {
  const { folder, store } = await openReal(t)
  const ref = await put(store, randomBytes(100))
  truncateSync(join(folder, ref.id.slice(0, 2), ref.id), 99)
  await assert.rejects(store.get(ref, { signal }), code('blob_damaged'))

  const disk = new MemoryDisk()
  const memory = await open('blobs', disk)
  const large = await put(memory, randomBytes(5_000_000))
  const stream = await memory.get(large, { signal })
  stream.once('readable', () => {})
  for (let turn = 0; turn < 50; turn++) await setImmediate()
  assert.ok(disk.reads <= 2, `${disk.reads} pieces were read that nobody took`)
  stream.destroy()
})

test('few readers at once read two pieces at a time, many read one, and all get their bytes', async () => {
  const store = await open('blobs', new MemoryDisk())
  const bytes = randomBytes(5 * PIECE_SIZE + 7)
  const blob = await put(store, bytes)
  const sizesOf = async () => {
    const read: Buffer[] = []
    for await (const chunk of await store.get(blob, { signal })) read.push(chunk as Buffer)
    assert.ok(Buffer.concat(read).equals(bytes))
    return read.map(({ length }) => length / PIECE_SIZE)
  }
  const rest = 7 / PIECE_SIZE
  assert.deepEqual(await sizesOf(), [2, 2, 1 + rest])
  const others = await Promise.all(
    Array.from({ length: LARGE_READERS_MAX }, () => store.get(blob, { signal })),
  )
  assert.deepEqual(await sizesOf(), [1, 1, 1, 1, 1, rest])
  for (const other of others) other.destroy()
  await setImmediate()
  assert.deepEqual(await sizesOf(), [2, 2, 1 + rest])
})

test('a blob that fills no buffer comes in one that is used again, except its last small bytes', async () => {
  const store = await open('blobs', new MemoryDisk())
  const buffersOf = async (size: number) => {
    const bytes = randomBytes(size)
    const read = await (await store.get(await put(store, bytes), { signal })).toArray()
    assert.ok(Buffer.concat(read).equals(bytes))
    const lent = read.map((chunk) => isLent(chunk))
    for (const chunk of read) giveBack(chunk)
    return { lent, memory: read.map((chunk: Buffer) => chunk.buffer) }
  }
  const first = await buffersOf(PIECE_SIZE + 1)
  assert.deepEqual(first.lent, [true])
  assert.deepEqual((await buffersOf(2 * PIECE_SIZE)).memory, first.memory)
  assert.deepEqual((await buffersOf(PIECE_SIZE - 1)).lent, [true])
  assert.deepEqual((await buffersOf(PIECE_SIZE / 2)).lent, [false])
})

test('a file that is not given to a reader is closed', async () => {
  const disk = new MemoryDisk()
  const store = await open('blobs', disk)
  const blob = await put(store, randomBytes(PIECE_SIZE + 1))
  const shortened = { ...blob, checksum: blob.checksum.slice(0, -4) }
  for (const wrong of [{ ...blob, size: blob.size + 1 }, shortened])
    await assert.rejects(store.get(wrong, { signal }), code('blob_damaged'))
  const stream = await store.get(blob, { signal })
  assert.equal(disk.readers, 1, 'only the file of the stream is open')
  await buffer(stream)
  assert.equal(disk.readers, 0)
})

test('a full disk is 507 and leaves nothing, at 90 % and at the last byte', async () => {
  const disk = new MemoryDisk()
  const store = await open('blobs', disk)
  disk.freeBytes = 99
  await assert.rejects(put(store, randomBytes(10)), code('storage_full'))
  await assert.rejects(store.admit(), code('storage_full'))
  assert.equal(disk.operations, 0)
  for (const at of [1, 2, 3]) {
    const full = new MemoryDisk()
    const other = await open('blobs', full)
    full.fault = { at, code: 'ENOSPC' }
    await assert.rejects(put(other, randomBytes(500_000)), code('storage_full'))
    assert.equal(other.fenced(), undefined)
    assert.deepEqual(await ids(other), [])
    await put(other, randomBytes(10))
  }
})

test('a body ends with 507 where the disk fills up to 90 % under it, and leaves nothing', async () => {
  const disk = new MemoryDisk()
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  const store = await createFsStore({
    folder: 'blobs',
    location: 'fs',
    log: silent,
    clock,
    disk,
  })
  const pieces = 20
  let read = 0
  /** After the third piece others have filled the disk, and the first check of space is a second old. */
  async function* filling() {
    for (; read < pieces; read++) {
      if (read === 3) {
        disk.freeBytes = 99
        nowMs += 1000
      }
      yield randomBytes(300_000)
    }
  }
  await assert.rejects(store.put(filling(), { signal, sizeMax: SIZE_MAX }), code('storage_full'))
  assert.ok(read < pieces, 'the rest of the body is not read')
  assert.equal(store.fenced(), undefined)
  assert.deepEqual(await ids(store), [])
  disk.freeBytes = 1000
  nowMs += 1000
  await put(store, randomBytes(10))
})

test('after an error of write, sync or close nothing is acknowledged any more', async () => {
  let fenced = 0
  for (let at = 2; at <= 6; at++) {
    const disk = new MemoryDisk()
    const store = await open('blobs', disk)
    disk.fault = { at, code: 'EIO' }
    await assert.rejects(put(store, randomBytes(500_000)), code('storage_fenced'))
    assert.equal(store.fenced(), 'EIO')
    await assert.rejects(put(store, randomBytes(1)), code('storage_fenced'))
    await assert.rejects(store.admit(), code('storage_fenced'))
    fenced++
  }
  assert.equal(fenced, 5)
})

async function ids(store: BlobStore): Promise<string[]> {
  const found = []
  for (const shard of SHARDS) for await (const { id } of store.list(shard, signal)) found.push(id)
  return found
}

/** Puts two blobs side by side and cuts the power at each operation in turn; what was lost of the acknowledged. */
async function lostAtEachCut(disk: () => MemoryDisk): Promise<{ cuts: number; lost: number }> {
  let lost = 0
  for (let at = 1; ; at++) {
    const cut = disk()
    const store = await open('blobs', cut)
    cut.fault = { at, code: 'CUT' }
    const bodies = [randomBytes(300_000), randomBytes(10)]
    const ends = await Promise.allSettled(bodies.map((bytes) => put(store, bytes)))
    const reached = cut.operations >= at
    cut.restart()
    const after = await open('blobs', cut)
    for (const [n, end] of ends.entries()) {
      if (end.status === 'rejected') continue
      const stream = await after.get(end.value, { signal }).catch(() => Readable.from([]))
      if (!(await buffer(stream)).equals(bodies[n] ?? Buffer.alloc(0))) lost++
    }
    if (!reached) return { cuts: at - 1, lost }
  }
}

test('a power cut at any operation loses nothing that was acknowledged', async () => {
  const sound = await lostAtEachCut(() => new MemoryDisk())
  assert.equal(sound.lost, 0)
  assert.ok(sound.cuts >= 10)
  const planted = await lostAtEachCut(() => Object.assign(new MemoryDisk(), { forgetsNames: true }))
  assert.ok(planted.lost > 0, 'the harness does not see names that are not synced')
})
