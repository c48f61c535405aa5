import assert from 'node:assert/strict'
import { test } from 'node:test'
import { booksLine } from './status.ts'

test('booksLine() says when the books were checked, or why they are halted', () => {
  const sound = { checked_age_s: 12, halted_at: null, faults: [] }
  assert.equal(booksLine(sound), 'books    checked 12 s ago')
  assert.equal(booksLine({ ...sound, checked_age_s: null }), 'books    not checked yet')
  const faults = [
    { invariant: 'units_sum_to_zero', detail: 'USD: 4' },
    { invariant: 'leaves_are_gapless', detail: 'size 1' },
  ]
  assert.equal(
    booksLine({ checked_age_s: 7, halted_at: '2026-11-21T00:00:00.000Z', faults }),
    'books    halted since 2026-11-21T00:00:00.000Z: units_sum_to_zero (USD: 4); leaves_are_gapless (size 1); checked 7 s ago',
  )
})
