// Bodies in the five payload modes: what a reference encoder frames comes back, what is touched does not.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { createHashers } from '#s3/checksums/algorithms.ts'
import { sumInLine } from '#s3/checksums/summing.ts'
import type { Seed } from '#s3/authentication/verify.ts'
import { openIntake, type Digests } from './intake.ts'
import { planBody } from './plan.ts'
import { frame, SEED } from './reference-framing.fixture.ts'

const hashers = createHashers()
type Sent = { payload: string; headers: Record<string, string>; seed?: Seed; body: Buffer }

async function receive(sent: Sent, cuts: readonly number[] = []) {
  const plan = planBody(sent.headers, { payload: sent.payload, seed: sent.seed })
  const intake = openIntake(split(sent.body, cuts), plan, (names) => sumInLine(hashers, names))
  const chunks: Buffer[] = []
  for await (const chunk of intake.chunks) chunks.push(chunk)
  return { bytes: Buffer.concat(chunks), digests: intake.digests() satisfies Digests }
}

async function* split(body: Buffer, cuts: readonly number[]) {
  const places = [0, ...cuts.map((cut) => cut % (body.length + 1)), body.length]
  places.sort((a, b) => a - b)
  for (let at = 1; at < places.length; at++) yield body.subarray(places[at - 1], places[at])
}

const MODES = ['hex', 'unsigned', 'signed', 'signed-trailer', 'unsigned-trailer'] as const
type Mode = (typeof MODES)[number]

function send(mode: Mode, chunks: readonly Buffer[]): Sent {
  const whole = Buffer.concat(chunks)
  const length = String(whole.length)
  const trailer = `x-amz-checksum-sha256:${hash('sha256', whole, 'base64')}`
  const decoded = { 'x-amz-decoded-content-length': length }
  const trailing = { ...decoded, 'x-amz-trailer': 'x-amz-checksum-sha256' }
  const STREAMING = 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'
  const seed = SEED
  switch (mode) {
    case 'hex':
      return {
        payload: hash('sha256', whole),
        headers: { 'content-length': length },
        body: whole,
      }
    case 'unsigned':
      return {
        payload: 'UNSIGNED-PAYLOAD',
        headers: { 'content-length': length, 'content-md5': hash('md5', whole, 'base64') },
        body: whole,
      }
    case 'signed':
      return { payload: STREAMING, headers: decoded, seed, body: frame({ chunks, seed }) }
    case 'signed-trailer':
      return {
        payload: `${STREAMING}-TRAILER`,
        headers: trailing,
        seed,
        body: frame({ chunks, seed, trailer, signTrailer: true }),
      }
    case 'unsigned-trailer':
      return {
        payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
        headers: trailing,
        body: frame({ chunks, trailer }),
      }
  }
}

// All but the last chunk hold 8 KiB or more.
const bodies = fc
  .record({
    full: fc.array(fc.uint8Array({ minLength: 8192, maxLength: 9000 }), { maxLength: 3 }),
    last: fc.uint8Array({ maxLength: 300 }),
  })
  .map(({ full, last }) =>
    [...full, last].filter((part) => part.length > 0).map((part) => Buffer.from(part)),
  )
const cuts = fc.array(fc.nat(), { maxLength: 12 })
const modes = fc.constantFrom(...MODES)

test('a body comes back however it is framed and split', async () => {
  await fc.assert(
    fc.asyncProperty(modes, bodies, cuts, async (mode, chunks, at) => {
      const { bytes, digests } = await receive(send(mode, chunks), at)
      const whole = Buffer.concat(chunks)
      assert.ok(bytes.equals(whole))
      assert.equal(digests.md5.toString('hex'), hash('md5', whole))
      assert.equal(digests.bytes, whole.length)
    }),
    { numRuns: 150 },
  )
})

test('a body has the checksum that its client sends, and no other', async () => {
  const summed = async (mode: Mode) =>
    (await receive(send(mode, [Buffer.from('abc')]))).digests.checksum?.algorithm
  assert.deepEqual(await Promise.all(MODES.map(summed)), [
    undefined,
    undefined,
    undefined,
    'SHA256',
    'SHA256',
  ])
})

test('a body split at every byte comes back', async () => {
  const sent = send('signed-trailer', [Buffer.alloc(8192, 'x'), Buffer.from('end')])
  const every = Array.from({ length: sent.body.length }, (_, at) => at)
  assert.equal((await receive(sent, every)).bytes.length, 8195)
})

test('any byte that is changed, added or lost is refused', async () => {
  const change = fc.constantFrom('flip', 'insert', 'remove', 'cut')
  await fc.assert(
    fc.asyncProperty(modes, bodies, change, fc.nat(), async (mode, chunks, what, place) => {
      const sent = send(mode, chunks)
      fc.pre(sent.body.length > 0)
      const at = place % sent.body.length
      const before = sent.body.subarray(0, at)
      const after = sent.body.subarray(at + 1)
      const byte = sent.body[at]!
      const body = {
        // 0x40 makes neither another case nor a leading zero, which would say the same.
        flip: Buffer.concat([before, Buffer.from([byte ^ 0x40]), after]),
        insert: Buffer.concat([before, Buffer.from([byte ^ 0x40]), sent.body.subarray(at)]),
        remove: Buffer.concat([before, after]),
        cut: before,
      }[what]
      await assert.rejects(receive({ ...sent, body }), { name: 'ErgonError' })
    }),
    { numRuns: 400 },
  )
})

const unsigned = (body: string, length: number, trailer = 'x-amz-checksum-crc32'): Sent => ({
  payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  headers: { 'x-amz-decoded-content-length': String(length), 'x-amz-trailer': trailer },
  body: Buffer.from(body),
})

test('framing that is not strictly right has AWS’s codes', async () => {
  const code = (expected: string, sent: Sent) =>
    assert.rejects(receive(sent), { code: expected }, sent.body.toString().slice(0, 80))
  const good = '3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\r\n\r\n'
  assert.equal((await receive(unsigned(good, 3))).bytes.toString(), 'abc')
  await code('IncompleteBody', unsigned(good, 4))
  await code('IncompleteBody', unsigned(good, 2))
  await code('IncompleteBody', unsigned('', 0))
  await code('IncompleteBody', unsigned(good.replace('3\r\n', '3;x=y\r\n'), 3))
  await code('IncompleteBody', unsigned(good.replace('3\r\n', '3\n'), 3))
  await code('IncompleteBody', unsigned(`${'0'.repeat(300)}${good}`, 3))
  await code('IncompleteBody', unsigned(good.replace('abc\r\n', 'abc\n\n'), 3))
  await code('IncompleteBody', unsigned(good.slice(0, -2), 3))
  await code('MalformedTrailerError', unsigned(good.replace('crc32:', 'sha1:'), 3))
  await code('MalformedTrailerError', unsigned('3\r\nabc\r\n0\r\n\r\n', 3))
  await code('MalformedTrailerError', unsigned(`${good}${'x'.repeat(5000)}`, 3))
  await code('BadDigest', unsigned(good.replace('NSRBwg==', 'AAAA'), 3))
  await code('BadDigest', unsigned(good.replace('NSRBwg==', 'AAAAAA=='), 3))
  await code('InvalidChunkSizeError', unsigned('1\r\na\r\n2\r\nbc\r\n0\r\n\r\n', 3))
})

test('a trailer may end as AWS’s page writes it', async () => {
  const sent = unsigned('3\r\nabc\r\n0\r\nx-amz-checksum-crc32:NSRBwg==\n\r\n\r\n', 3)
  assert.equal((await receive(sent)).bytes.toString(), 'abc')
})

test('planBody() refuses what cannot be read', () => {
  const plan = (headers: Record<string, string>, payload: string) => () =>
    planBody(headers, { payload, seed: undefined })
  const sized = { 'content-length': '1' }
  assert.throws(plan({}, 'UNSIGNED-PAYLOAD'), { code: 'MissingContentLength', status: 411 })
  assert.throws(plan({ 'content-length': '6000000000' }, 'UNSIGNED-PAYLOAD'), {
    code: 'EntityTooLarge',
  })
  assert.throws(plan(sized, 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'), { code: 'MissingContentLength' })
  assert.throws(plan(sized, 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD'), { code: 'InvalidRequest' })
  assert.throws(plan(sized, 'STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD'), { code: 'NotImplemented' })
  assert.throws(plan(sized, 'nonsense'), { code: 'InvalidArgument' })
  assert.throws(plan({ ...sized, 'x-amz-trailer': 'x-amz-checksum-crc32' }, 'UNSIGNED-PAYLOAD'), {
    code: 'MalformedTrailerError',
  })
  assert.throws(plan({ ...sized, 'content-md5': 'abc' }, 'UNSIGNED-PAYLOAD'), {
    code: 'InvalidDigest',
  })
})

test('a wrong hash of the payload and a wrong MD5 have their codes', async () => {
  const hex = send('hex', [Buffer.from('abc')])
  await assert.rejects(receive({ ...hex, body: Buffer.from('abd') }), {
    code: 'XAmzContentSHA256Mismatch',
  })
  const md5 = send('unsigned', [Buffer.from('abc')])
  await assert.rejects(receive({ ...md5, body: Buffer.from('abd') }), { code: 'BadDigest' })
})
