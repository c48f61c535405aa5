import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { timestamp } from './clock.ts'

test('times print as Date prints them, in any order', () => {
  const wallMs = fc.oneof(
    fc.integer({ min: 0, max: 9_999 }),
    fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(9999, 11) }),
  )
  fc.assert(
    fc.property(fc.array(wallMs), (times) => {
      for (const time of times) assert.equal(timestamp(time), new Date(time).toISOString())
    }),
  )
  assert.equal(timestamp(1_763_805_599_999.9), '2025-11-22T09:59:59.999Z')
})
