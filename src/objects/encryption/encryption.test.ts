import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Encryption } from './encryption.ts'
import { openFrames, sealedRange, sealedSize, sealFrames } from './frames.ts'
import { createVault } from './vault.ts'

const FRAME = 64 * 1024
const key = randomBytes(32)
const first = () => 1

async function* cut(bytes: Buffer, at: number): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += at) yield bytes.subarray(from, from + at)
}

async function gather(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const kept: Buffer[] = []
  for await (const chunk of chunks) kept.push(chunk)
  return Buffer.concat(kept)
}

const openRange = (sealed: Buffer, size: number, range: { first: number; last: number }) => {
  const { first, last } = sealedRange(range, size)
  return gather(openFrames(key, cut(sealed.subarray(first, last + 1), 50_000), { range, size }))
}

// Sizes around the ends of frames, where an index can be off by one.
const sizes = fc.oneof(
  fc.integer({ min: 1, max: 300 }),
  fc.constantFrom(FRAME - 1, FRAME, FRAME + 1, 2 * FRAME, 2 * FRAME + 1, 3 * FRAME - 1),
)

test('any range of a sealed body opens to the same bytes, however it was cut', async () => {
  await fc.assert(
    fc.asyncProperty(
      sizes,
      fc.nat(),
      fc.nat(),
      fc.integer({ min: 100, max: 200_000 }),
      async (size, a, b, at) => {
        const body = randomBytes(size)
        const sealed = await gather(sealFrames(key, cut(body, at)))
        assert.equal(sealed.length, sealedSize(size))
        const [first = 0, last = 0] = [a % size, b % size].toSorted((x, y) => x - y)
        const opened = await openRange(sealed, size, { first, last })
        assert.ok(opened.equals(body.subarray(first, last + 1)))
      },
    ),
    { numRuns: 60 },
  )
})

test('a body that was changed, cut short or put in another order does not open', async () => {
  const size = 2 * FRAME + 100
  const body = randomBytes(size)
  const sealed = await gather(sealFrames(key, cut(body, FRAME)))
  const whole = { first: 0, last: size - 1 }
  const refuses = (bytes: Buffer, bodySize = size) =>
    assert.rejects(
      gather(
        openFrames(key, cut(bytes, FRAME), {
          range: { ...whole, last: bodySize - 1 },
          size: bodySize,
        }),
      ),
      { code: 'blob_damaged' },
    )
  const flipped = Buffer.from(sealed)
  flipped[FRAME + 20] = (flipped[FRAME + 20] ?? 0) ^ 1
  await refuses(flipped)
  const frame = FRAME + 16
  await refuses(sealed.subarray(0, 2 * frame), 2 * FRAME)
  await refuses(
    Buffer.concat([
      sealed.subarray(frame, 2 * frame),
      sealed.subarray(0, frame),
      sealed.subarray(2 * frame),
    ]),
  )
})

test('a data key opens under what it was made for and nothing else', () => {
  const vault = createVault({
    secret: 'a secret of the installation',
    keyIds: ['one', 'two'],
    versionOf: first,
  })
  const customerKey = { key: randomBytes(32), keyMd5: 'md5' }
  const kinds: Encryption[] = [
    { kind: 'SSE-S3' },
    { kind: 'SSE-KMS', keyId: 'one' },
    { kind: 'SSE-KMS', keyId: 'one', context: 'e30=' },
    { kind: 'SSE-KMS', keyId: 'two' },
    { kind: 'SSE-C', keyMd5: 'md5' },
  ]
  for (const made of kinds) {
    const { key: dataKey, envelope } = vault.create(made, customerKey)
    assert.ok(!JSON.stringify(envelope).includes(dataKey.toString('base64')))
    for (const asked of kinds)
      if (asked === made) assert.ok(vault.open(asked, envelope, customerKey).equals(dataKey))
      else assert.throws(() => vault.open(asked, envelope, customerKey), { code: 'InternalError' })
  }
  const { envelope } = vault.create({ kind: 'SSE-S3' }, undefined)
  const other = createVault({ secret: 'another secret', keyIds: [], versionOf: first })
  assert.throws(() => other.open({ kind: 'SSE-S3' }, envelope, undefined), {
    code: 'InternalError',
  })
  assert.equal(other.hasKey('one'), false)
})

test('a data key is wrapped again by a newer version, and the old envelope opens all the same', () => {
  let version = 1
  const vault = createVault({ secret: 'a secret', keyIds: ['one'], versionOf: () => version })
  const made = { kind: 'SSE-KMS', keyId: 'one' } as const
  const { key: dataKey, envelope } = vault.create(made, undefined)
  assert.equal(vault.rewrap(made, envelope), undefined)
  version = 3
  const again = vault.rewrap(made, envelope)
  assert.ok(again !== undefined)
  assert.deepEqual(vault.open(made, again, undefined), dataKey)
  assert.deepEqual(vault.open(made, envelope, undefined), dataKey)
  assert.equal(vault.rewrap(made, again), undefined)
  // Another version is another key: the number in the envelope is no decoration.
  const { keyVersion: _, ...asFirst } = again as { keyVersion: number; v: number; key: string }
  assert.throws(() => vault.open(made, asFirst, undefined), { code: 'InternalError' })
  const { envelope: own } = vault.create({ kind: 'SSE-S3' }, undefined)
  assert.equal(vault.rewrap({ kind: 'SSE-S3' }, own), undefined)
})
