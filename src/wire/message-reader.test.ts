import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MessageReader } from './message-reader.ts'
import { message } from './messages.ts'

const BYTES_MAX = 100_000

const messages = fc.array(
  fc.record({ type: fc.integer({ min: 1, max: 255 }), body: fc.uint8Array({ maxLength: 40 }) }),
)

test('every message is read once and whole, wherever the pieces end', () => {
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 })
  const property = fc.property(messages, cuts, (list, sizes) => {
    const read: { type: number; body: Uint8Array }[] = []
    const reader = new MessageReader(BYTES_MAX, (type, bytes, start, end) => {
      read.push({ type, body: Uint8Array.from(bytes.subarray(start, end)) })
      return true
    })
    const stream = Buffer.concat(list.map(({ type, body }) => message(type, Buffer.from(body))))
    // The memory of a piece is used again, as that of a socket's reads.
    const piece = Buffer.alloc(30)
    for (let at = 0, nth = 0; at < stream.length; nth++) {
      const size = stream.copy(piece, 0, at, at + (sizes[nth % sizes.length] ?? 1))
      reader.take(piece.subarray(0, size))
      at += size
    }
    assert.deepEqual(
      read,
      list.map(({ type, body }) => ({ type, body: Uint8Array.from(body) })),
    )
    assert.equal(reader.heldBytes, 0)
  })
  fc.assert(property, { numRuns: 300 })
})

test('memory is of the bytes that came, not of those that a length promises', () => {
  const reader = new MessageReader(BYTES_MAX, () => true)
  reader.take(Buffer.from([0x44, 0, 0, 0xff, 0xff, 1, 2, 3]))
  assert.ok(reader.heldBytes < 10_000)
  for (const length of [3, -1, BYTES_MAX, 2 ** 31 - 1]) {
    const head = Buffer.alloc(5, 0x44)
    head.writeInt32BE(length, 1)
    const fresh = new MessageReader(BYTES_MAX, () => true)
    assert.throws(() => fresh.take(head), { name: 'ProtocolError' })
    const bytewise = new MessageReader(BYTES_MAX, () => true)
    assert.throws(() => [...head].forEach((byte) => bytewise.take(Buffer.from([byte]))), {
      name: 'ProtocolError',
    })
  }
})

test('a reader that was told to stop reads nothing more of what it was given', () => {
  let read = 0
  const reader = new MessageReader(BYTES_MAX, () => ++read < 2)
  reader.take(Buffer.concat([1, 2, 3].map((type) => message(type))))
  assert.equal(read, 2)
})
