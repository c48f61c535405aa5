import assert from 'node:assert/strict'
import { hash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import type { BlobRef, BlobStore, NewBlob } from '#blobs/blob.ts'
import { blobDamaged, storageAway } from '#blobs/faults.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import type { ObjectBody, Part } from './types.ts'
import { createBlobReader } from './blob-reader.ts'
import type { RowDamage } from './damage.ts'
import { sealFrames } from './encryption/frames.ts'

const BLOB: NewBlob = {
  location: 'fs',
  id: '00000000-0000-4000-8000-000000000000',
  size: 3,
  checksum: '',
}
const PART: Part = {
  number: 1,
  size: 3,
  etag: '',
  checksums: {},
  encryption: { key: 'x' },
  blob: BLOB,
}
const { signal } = new AbortController()
const NO_STATE: Queryable = {
  async query() {
    throw new TypeError('there is nothing to ask')
  },
}
const untold = {
  async tell() {
    throw new TypeError('there is nothing to tell')
  },
  async tellBody() {
    throw new TypeError('there is nothing to tell')
  },
  telling: <S extends object>(service: S) => service,
}
const storedOf = (body: ObjectBody, size: number) => ({
  bucket: { id: 7 },
  version: { key: 'k', versionId: 'v', size, etag: hash('md5', 'body'), partCount: 0 },
  body,
})

test('read() opens no blob whose key cannot be unwrapped, nor before somebody reads', async () => {
  const opened: Readable[] = []
  const get: BlobStore['get'] = async () => {
    const body = Readable.from([Buffer.from('abc')])
    opened.push(body)
    return body
  }
  const stores = new Map([['fs', { get } as unknown as BlobStore]])
  const reader = createBlobReader({ stores, finds: NO_STATE, damages: untold })
  const stored = storedOf({ kind: 'parts', parts: [PART] }, 3)
  const open = () => {
    throw new Error('no such key')
  }
  const cipher = { envelope: null, open }
  const sealed = reader.read(stored, { signal, cipher })
  await assert.rejects(sealed[Symbol.asyncIterator]().next(), /no such key/)
  reader.read(stored, { signal })
  assert.equal(opened.length, 0)
  const plain = reader.read(stored, { signal })[Symbol.asyncIterator]()
  await plain.next()
  await plain.return?.()
  assert.deepEqual(
    opened.map(({ destroyed }) => destroyed),
    [true],
  )
})

test('read() and check() tell the operator of a blob that is damaged, and of none that is away', async () => {
  const told: [string, string][] = []
  const damages = {
    ...untold,
    async tell({ id }: BlobRef, found: string) {
      told.push([id, found])
    },
  }
  let fault: Error = blobDamaged(BLOB.id, 'it ends at 2')
  const store = {
    async get() {
      throw fault
    },
    stat: async () => ({ id: BLOB.id, size: 2, writtenMs: 0 }),
  }
  const stores = new Map([['fs', store as unknown as BlobStore]])
  const reader = createBlobReader({ stores, finds: NO_STATE, damages })
  const body = { kind: 'parts', parts: [PART] } as const
  const read = () => reader.read(storedOf(body, 3), { signal })[Symbol.asyncIterator]().next()
  await assert.rejects(read(), fault)
  await assert.rejects(reader.check(storedOf(body, 3), signal), { code: 'blob_damaged' })
  fault = storageAway()
  await assert.rejects(read(), fault)
  // As a disk answers for a sector that it cannot read.
  fault = Object.assign(new Error('i/o error'), { code: 'EIO' })
  await assert.rejects(read(), { code: 'blob_damaged', cause: fault })
  assert.deepEqual(told, [
    [BLOB.id, `Could not trust blob ${BLOB.id}: it ends at 2`],
    [BLOB.id, `Could not trust blob ${BLOB.id}: it has 2 bytes, not 3`],
    [BLOB.id, 'i/o error'],
  ])
})

test('read() takes a checksum that a part lacks from the state, for the parts that are opened', async () => {
  const { checksum: _, ...bare } = BLOB
  const asked: unknown[] = []
  let rows: SqlRow[] = [{ location: 'moved', size: 3, checksum: 'crc32:352441c2' }]
  const finds: Queryable = {
    async query<R extends SqlRow>(_text: string, values: readonly unknown[] = []) {
      asked.push(...values)
      return { rows: rows as R[], rowCount: rows.length }
    },
  }
  const opened: NewBlob[] = []
  const get: BlobStore['get'] = async (blob) => {
    opened.push(blob)
    return Readable.from([Buffer.from('abc')])
  }
  const told: string[] = []
  const damages = { ...untold, tell: async ({ id }: BlobRef) => void told.push(id) }
  const stores = new Map([['moved', { get } as unknown as BlobStore]])
  const reader = createBlobReader({ stores, finds, damages })
  const part = (id: string) => ({ ...PART, encryption: null, blob: { ...bare, id } })
  const body = { kind: 'parts', parts: ['a', 'b', 'c'].map(part) } as const
  const read = async () => {
    const stored = storedOf(body, 9)
    for await (const _ of reader.read(stored, { signal, range: { first: 3, last: 5 } }));
  }
  await read()
  assert.deepEqual(asked, ['b'])
  assert.deepEqual(opened, [{ ...rows[0], id: 'b' }])
  rows = []
  await assert.rejects(read(), { code: 'blob_missing' })
  assert.deepEqual(told, ['b'])
})

test('read() tells the operator of a body in a row that is damaged', async () => {
  const told: RowDamage[] = []
  const damages = { ...untold, tellBody: async (damage: RowDamage) => void told.push(damage) }
  const reader = createBlobReader({ stores: new Map(), finds: NO_STATE, damages })
  const read = async (bytes: Buffer, size: number, options = {}) => {
    const stored = storedOf({ kind: 'inline', bytes }, size)
    for await (const _ of reader.read(stored, { signal, ...options }));
  }
  const key = randomBytes(32)
  const sealed = await buffer(sealFrames(key, Readable.from([Buffer.from('body')])))
  const cipher = { envelope: null, open: () => key }
  await read(Buffer.from('body'), 4)
  await read(Buffer.from('body'), 4, { range: { first: 1, last: 2 } })
  await read(sealed, 4, { cipher })
  assert.deepEqual(told, [])
  const flipped = Buffer.from(sealed)
  flipped.writeUInt8(flipped.readUInt8(1) ^ 1, 1)
  await assert.rejects(read(flipped, 4, { cipher }), { code: 'blob_damaged' })
  const damaged = [Buffer.from('bod'), Buffer.from('bodY')]
  for (const bytes of damaged) await assert.rejects(read(bytes, 4), { code: 'blob_damaged' })
  const beside = { range: { first: 0, last: 1 } }
  await assert.rejects(read(Buffer.from('bodY'), 4, beside), { code: 'blob_damaged' })
  assert.deepEqual(
    told,
    [flipped, ...damaged, Buffer.from('bodY')].map((bytes) => ({
      bucket: 7,
      version: 'v',
      found: hash('md5', bytes),
      key: 'k',
    })),
  )
  const broken = { ...cipher, open: () => assert.fail('no such key') }
  await assert.rejects(read(sealed, 4, { cipher: broken }), /no such key/)
  assert.equal(told.length, 4)
})

test('a body in a row that was cut or that has another size is damaged, and no bytes of it leave', async () => {
  const told: RowDamage[] = []
  const damages = { ...untold, tellBody: async (damage: RowDamage) => void told.push(damage) }
  const reader = createBlobReader({ stores: new Map(), finds: NO_STATE, damages })
  const key = randomBytes(32)
  const sealed = await buffer(sealFrames(key, Readable.from([Buffer.from('body')])))
  const sealing = { cipher: { envelope: null, open: () => key } }
  const cuts = Array.from({ length: sealed.length }, (_, length) => sealed.subarray(0, length))
  const body = Buffer.from('body')
  const damaged: [bytes: Buffer, size: number, options: object][] = [
    ...cuts.map((bytes) => [bytes, 4, sealing] as [Buffer, number, object]),
    [sealed, 1, sealing],
    [sealed, 8, sealing],
    [Buffer.alloc(0), 4, {}],
    [body, 8, {}],
    [body, 0, {}],
  ]
  for (const [at, [bytes, size, options]] of damaged.entries()) {
    const sent: Buffer[] = []
    const read = async () => {
      const stored = storedOf({ kind: 'inline', bytes }, size)
      for await (const chunk of reader.read(stored, { signal, ...options })) sent.push(chunk)
    }
    await assert.rejects(read, { code: 'blob_damaged' }, `${bytes.length} bytes for ${size}`)
    assert.deepEqual([sent, told.length], [[], at + 1])
  }
})

test('check() compares a body in a row, which a copy would share', async () => {
  const told: RowDamage[] = []
  const damages = { ...untold, tellBody: async (damage: RowDamage) => void told.push(damage) }
  const reader = createBlobReader({ stores: new Map(), finds: NO_STATE, damages })
  const check = (text: string) =>
    reader.check(storedOf({ kind: 'inline', bytes: Buffer.from(text) }, 4), signal)
  await check('body')
  assert.deepEqual(told, [])
  await assert.rejects(check('bodY'), { code: 'blob_damaged' })
  assert.equal(told.length, 1)
})
