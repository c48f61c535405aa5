// The reader of JSON bodies: what is nested too deep is refused before any parser recurses into it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { parseJson } from './json-body.ts'
import { JSON_DEPTH_MAX } from './limits.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')
const nested = (depth: number, core = '') => '['.repeat(depth) + core + ']'.repeat(depth)

test('parseJson() gives back any JSON value', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), (value) => {
      const text = JSON.stringify(value)
      assert.equal(JSON.stringify(parseJson(bytes(text))), text)
    }),
  )
})

test('parseJson() counts nesting to the limit and not beyond', () => {
  assert.doesNotThrow(() => parseJson(bytes(nested(JSON_DEPTH_MAX))))
  assert.throws(() => parseJson(bytes(nested(JSON_DEPTH_MAX + 1))), { code: 'invalid_json' })
  const objects = `${'{"a":'.repeat(JSON_DEPTH_MAX + 1)}1${'}'.repeat(JSON_DEPTH_MAX + 1)}`
  assert.throws(() => parseJson(bytes(objects)), { code: 'invalid_json' })
})

test('parseJson() does not take brackets inside strings for nesting', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('[', '{', '"', '\\', 'a') }), (text) => {
      const value = [text, { [text]: text }]
      assert.deepEqual(parseJson(bytes(JSON.stringify(value))), value)
    }),
  )
  const brackets = JSON.stringify('['.repeat(1000))
  assert.doesNotThrow(() => parseJson(bytes(nested(JSON_DEPTH_MAX, brackets))))
})

test('parseJson() counts brackets after a string that never ends as the parser would: not at all', () => {
  assert.throws(() => parseJson(bytes(`["${'['.repeat(1000)}`)), { code: 'invalid_json' })
})

test('parseJson() takes a million brackets in a time that is a scan, without recursion', () => {
  assert.throws(() => parseJson(bytes('['.repeat(1_000_000))), { code: 'invalid_json' })
})

test('parseJson() refuses what is empty, not UTF-8 or not JSON, and skips a byte order mark', () => {
  for (const body of ['', '{', '{} {}', "{'a':1}"])
    assert.throws(() => parseJson(bytes(body)), { code: 'invalid_json' })
  assert.throws(() => parseJson(Buffer.from([0x22, 0xff, 0x22])), { code: 'invalid_json' })
  assert.deepEqual(parseJson(bytes('\ufeff{"a":1}')), { a: 1 })
})
