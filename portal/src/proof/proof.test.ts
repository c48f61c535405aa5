// The parts of Node that the verifier uses in the browser behave as Node's own.
import assert from 'node:assert/strict'
import { isUtf8 as nodeIsUtf8 } from 'node:buffer'
import { createPublicKey, generateKeyPairSync, hash as nodeHash, sign } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { Bytes } from './bytes.ts'
import { isUtf8 } from './node-buffer.ts'
import { createPublicKey as ownKey, hash, verify } from './node-crypto.ts'

const RUNS = { numRuns: 200 }
const bytes = fc.uint8Array({ maxLength: 100 })
const ENCODINGS = ['utf8', 'hex', 'base64', 'latin1'] as const

test('Bytes encodes and decodes as Buffer does', () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom(...ENCODINGS), (some, encoding) => {
      const text = Buffer.from(some).toString(encoding)
      assert.equal(Bytes.from(some).toString(encoding), text)
      assert.deepEqual([...Bytes.from(text, encoding)], [...Buffer.from(text, encoding)])
    }),
    RUNS,
  )
})

test('Bytes joins, cuts, compares and counts as Buffer does', () => {
  fc.assert(
    fc.property(bytes, bytes, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (one, other, number) => {
      const joined = Bytes.concat([one, Bytes.from(other)])
      assert.ok(Buffer.concat([one, other]).equals(joined))
      assert.deepEqual([...joined.subarray(one.length)], [...other])
      assert.equal(joined.equals(Buffer.concat([one, other])), true)
      assert.equal(joined.equals(one), other.length === 0)
      const counter = Bytes.alloc(10, 1)
      counter.writeBigUInt64BE(number, 1)
      const expected = Buffer.alloc(10, 1)
      expected.writeBigUInt64BE(number, 1)
      assert.deepEqual([...counter], [...expected])
      assert.equal(counter.readBigUInt64BE(1), number)
    }),
    RUNS,
  )
})

test('hash() and isUtf8() answer as those of Node', () => {
  fc.assert(
    fc.property(bytes, (some) => {
      assert.equal(hash('sha256', some, 'binary'), nodeHash('sha256', some, 'binary'))
      assert.equal(isUtf8(some), nodeIsUtf8(some))
    }),
    RUNS,
  )
})

test('verify() takes a signature of Node and refuses a changed one', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const message = Buffer.from('ergon\n1\n')
  const signature = sign(null, message, privateKey)
  const key = ownKey({ key: spki })
  assert.equal(createPublicKey({ key: spki, format: 'der', type: 'spki' }).type, 'public')
  assert.equal(verify(null, message, key, signature), true)
  assert.equal(verify(null, Buffer.from('ergon\n2\n'), key, signature), false)
  signature[3] = (signature[3] ?? 0) ^ 1
  assert.equal(verify(null, message, key, signature), false)
})
