import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { FrameScanner } from './frames.ts'
import { message, TERMINATE, TYPE } from './messages.ts'

const messages = fc.array(
  fc.record({ type: fc.integer({ min: 1, max: 255 }), body: fc.uint8Array({ maxLength: 40 }) }),
)

/** The stream in pieces that end anywhere. */
function* pieces(stream: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let at = 0
  for (let nth = 0; at < stream.length; nth++) {
    const size = sizes[nth % sizes.length] ?? 1
    yield stream.subarray(at, at + size)
    at += size
  }
}

test('every message is seen once and every byte passes, wherever the pieces end', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 })
  const property = fc.property(messages, sizes, (list, cuts) => {
    const seen: number[] = []
    const scanner = new FrameScanner((type) => seen.push(type) > 0)
    const stream = Buffer.concat(list.map(({ type, body }) => message(type, Buffer.from(body))))
    const passed = [...pieces(stream, cuts)].map((piece) => scanner.scan(piece))
    assert.deepEqual(Buffer.concat(passed), stream)
    assert.deepEqual(
      seen,
      list.map(({ type }) => type),
    )
    assert.ok(scanner.isAtBoundary)
  })
  fc.assert(property, { numRuns: 300 })
})

test('nothing passes from a message on that may not', () => {
  const query = message(TYPE.query, 'select 1')
  const scanner = new FrameScanner((type) => type !== TYPE.terminate)
  assert.deepEqual(scanner.scan(Buffer.concat([query, TERMINATE, query])), query)
})

test('inside of a message is no boundary, and a length that none has is refused', () => {
  const scanner = new FrameScanner(() => true)
  scanner.scan(message(TYPE.query, 'select 1').subarray(0, 8))
  assert.ok(!scanner.isAtBoundary)
  for (const length of [
    [0, 0, 0, 3],
    [0x3f, 0xff, 0xff, 0xff],
  ])
    assert.throws(
      () => new FrameScanner(() => true).scan(Buffer.from([0x51, ...length])),
      RangeError,
    )
})
