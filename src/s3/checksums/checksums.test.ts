import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { ALGORITHMS, CHECKSUMS, createHashers, type ChecksumAlgorithm } from './algorithms.ts'
import { combineChecksums } from './combine.ts'
import {
  checkCompletion,
  checkMultipartChecksum,
  multipartChecksumText,
  multipartETag,
} from '#s3/multipart/checksum.ts'
import { contentMd5, multipartChecksum, requestChecksum } from './request.ts'

const hashers = createHashers()
const digest = async (algorithm: ChecksumAlgorithm, bytes: Uint8Array): Promise<Buffer> => {
  const hasher = await hashers.open(algorithm)
  hasher.update(bytes)
  return hasher.digest()
}

test('the checksums have the check values of their definitions', async () => {
  const of = async (algorithm: ChecksumAlgorithm) =>
    (await digest(algorithm, Buffer.from('123456789'))).toString('hex')
  assert.equal(await of('CRC32'), 'cbf43926')
  assert.equal(await of('CRC32C'), 'e3069283')
  assert.equal(await of('CRC64NVME'), 'ae8b14860a799888')
  const ofNothing = async (algorithm: ChecksumAlgorithm) =>
    (await digest(algorithm, Buffer.alloc(0))).toString('hex')
  assert.equal(await ofNothing('XXHASH64'), 'ef46db3751d8e999')
  assert.equal(await ofNothing('XXHASH3'), '2d06800538d394c2')
  assert.equal(await ofNothing('XXHASH128'), '99aa06d3014798d86001c324468d497f')
  for (const name of ALGORITHMS)
    assert.equal((await digest(name, Buffer.alloc(3))).length, CHECKSUMS[name].bytes)
})

test('instances that are used again start anew, also side by side', async () => {
  const bytes = Buffer.from('abc')
  for (const algorithm of ALGORITHMS) {
    const expected = await digest(algorithm, bytes)
    const [a, b] = [await hashers.open(algorithm), await hashers.open(algorithm)]
    a.update(Buffer.from('a'))
    b.update(bytes)
    a.update(Buffer.from('bc'))
    assert.deepEqual([a.digest(), b.digest()], [expected, expected], algorithm)
  }
})

test('CRC64NVME is what its definition gives bit by bit, whatever the size and the cuts', async () => {
  const reference = (bytes: Uint8Array): bigint => {
    let crc = 0xffff_ffff_ffff_ffffn
    for (const byte of bytes) {
      crc ^= BigInt(byte)
      for (let bit = 0; bit < 8; bit++)
        crc = crc & 1n ? (crc >> 1n) ^ 0x9a6c_9329_ac4b_c9b5n : crc >> 1n
    }
    return crc ^ 0xffff_ffff_ffff_ffffn
  }
  const size = fc.oneof(fc.nat(40), fc.nat(5), fc.constantFrom(4095, 4096, 4097, 8200))
  await fc.assert(
    fc.asyncProperty(fc.array(size, { maxLength: 5 }), fc.nat(255), async (sizes, seed) => {
      const pieces = sizes.map((length, nth) =>
        Buffer.from(Array.from({ length }, (_, at) => (at * at + nth + seed) & 255)),
      )
      const hasher = await hashers.open('CRC64NVME')
      for (const piece of pieces) hasher.update(piece)
      assert.equal(hasher.digest().readBigUInt64BE(), reference(Buffer.concat(pieces)))
    }),
    { numRuns: 50 },
  )
})

test('CRC64NVME of more than its memory is that of its parts, joined', async () => {
  const bytes = Buffer.from(Array.from({ length: 500_000 }, (_, at) => (at * at) & 255))
  for (const cut of [163_840, 200_001, 327_680, 499_999]) {
    const parts = [bytes.subarray(0, cut), bytes.subarray(cut)]
    const small = await Promise.all(
      parts.flatMap((part) => {
        const pieces = Array.from({ length: Math.ceil(part.length / 1000) }, (_, nth) =>
          part.subarray(nth * 1000, (nth + 1) * 1000),
        )
        return pieces.map(async (piece) => ({
          digest: await digest('CRC64NVME', piece),
          size: piece.length,
        }))
      }),
    )
    assert.deepEqual(await digest('CRC64NVME', bytes), combineChecksums('CRC64NVME', small))
  }
})

test('combineChecksums() gives the checksum of all parts joined', async () => {
  const combinable = fc.constantFrom('CRC32' as const, 'CRC32C' as const, 'CRC64NVME' as const)
  const parts = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(combinable, parts, async (algorithm, pieces) => {
      const whole = await digest(algorithm, Buffer.concat(pieces))
      const each = await Promise.all(
        pieces.map(async (piece) => ({
          digest: await digest(algorithm, piece),
          size: piece.length,
        })),
      )
      assert.deepEqual(combineChecksums(algorithm, each), whole)
    }),
    { numRuns: 60 },
  )
})

test('a composite checksum is one of the checksums, with the count of parts', async () => {
  const parts = [Buffer.from('a'), Buffer.from('b')].map((bytes) => ({
    digest: hash('sha256', bytes, 'buffer'),
    size: 1,
  }))
  const text = await multipartChecksumText(
    hashers,
    { algorithm: 'SHA256', type: 'COMPOSITE' },
    parts,
  )
  const joined = Buffer.concat(parts.map((part) => part.digest))
  assert.equal(text, `${hash('sha256', joined, 'base64')}-2`)
  checkMultipartChecksum('SHA256', text, text)
  checkMultipartChecksum('SHA256', text.slice(0, -2), text)
  const other = hash('sha256', 'x', 'base64')
  assert.throws(() => checkMultipartChecksum('SHA256', other, text), { code: 'BadDigest' })
})

test('multipartETag() is the MD5 of MD5s', () => {
  const md5 = hash('md5', 'a', 'buffer')
  assert.equal(multipartETag([md5]), `${hash('md5', md5)}-1`)
})

test('requestChecksum() finds the header or announces the trailer', () => {
  assert.equal(requestChecksum({}), undefined)
  assert.deepEqual(requestChecksum({ 'x-amz-checksum-crc32': 'NSRBwg==' }), {
    algorithm: 'CRC32',
    expected: Buffer.from('352441c2', 'hex'),
  })
  assert.deepEqual(requestChecksum({ 'x-amz-trailer': 'X-Amz-Checksum-CRC64NVME' }), {
    algorithm: 'CRC64NVME',
    expected: undefined,
  })
})

test('requestChecksum() refuses contradictions', () => {
  const refused = (headers: Record<string, string>, code = 'InvalidRequest') =>
    assert.throws(() => requestChecksum(headers), { code }, String(headers))
  refused({ 'x-amz-checksum-crc32': 'NSRBwg==', 'x-amz-checksum-sha1': 'x' })
  refused({ 'x-amz-checksum-crc32': 'NSRBwg==', 'x-amz-trailer': 'x-amz-checksum-crc32' })
  refused({ 'x-amz-checksum-crc32': 'bad' }, 'BadDigest')
  refused({ 'x-amz-checksum-crc32': 'NSRBwg' }, 'BadDigest')
  refused({ 'x-amz-checksum-crc32': 'NSRBwg==', 'x-amz-sdk-checksum-algorithm': 'SHA1' })
  refused({ 'x-amz-sdk-checksum-algorithm': 'CRC32' })
  refused({ 'x-amz-sdk-checksum-algorithm': 'CRC16' })
  refused({ 'x-amz-trailer': 'x-amz-meta-a' })
})

test('multipartChecksum() knows which types go with which algorithm', () => {
  const of = (algorithm?: string, type?: string) =>
    multipartChecksum({
      ...(algorithm && { 'x-amz-checksum-algorithm': algorithm }),
      ...(type && { 'x-amz-checksum-type': type }),
    })
  assert.equal(of(), undefined)
  assert.deepEqual(of('crc32'), { algorithm: 'CRC32', type: 'COMPOSITE' })
  assert.deepEqual(of('CRC64NVME'), { algorithm: 'CRC64NVME', type: 'FULL_OBJECT' })
  assert.deepEqual(of('CRC32C', 'FULL_OBJECT'), { algorithm: 'CRC32C', type: 'FULL_OBJECT' })
  for (const [algorithm, type] of [
    ['SHA256', 'FULL_OBJECT'],
    ['CRC64NVME', 'COMPOSITE'],
    ['CRC32', 'HALF'],
    ['CRC16', undefined],
    [undefined, 'COMPOSITE'],
  ] as const)
    assert.throws(() => of(algorithm, type), { code: 'InvalidRequest' }, `${algorithm} ${type}`)
})

test('contentMd5() takes 16 bytes of base64', () => {
  assert.equal(contentMd5({}), undefined)
  assert.equal(contentMd5({ 'content-md5': hash('md5', 'a', 'base64') })?.length, 16)
  for (const text of ['', 'abc', 'AAAA', `${hash('md5', 'a', 'base64')}x`])
    assert.throws(() => contentMd5({ 'content-md5': text }), { code: 'InvalidDigest' })
})

test('checkCompletion() holds size and type that a completion says against the parts', () => {
  const check = (headers: Record<string, string>, type?: 'COMPOSITE' | 'FULL_OBJECT') =>
    checkCompletion(headers, { size: 7, type })
  check({})
  check({ 'x-amz-mp-object-size': '7', 'x-amz-checksum-type': 'composite' }, 'COMPOSITE')
  const size = (text: string) => () => check({ 'x-amz-mp-object-size': text })
  assert.throws(size('8'), { code: 'InvalidRequest' })
  for (const text of ['', 'abc', '-7', '7.0'])
    assert.throws(size(text), { code: 'InvalidArgument' }, text)
  const type = { 'x-amz-checksum-type': 'FULL_OBJECT' }
  assert.throws(() => check(type, 'COMPOSITE'), { code: 'BadDigest' })
  assert.throws(() => check(type), { code: 'BadDigest' })
  assert.throws(() => check({ 'x-amz-checksum-type': 'half' }), { code: 'InvalidRequest' })
})
