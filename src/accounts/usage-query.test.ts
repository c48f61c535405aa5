import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readUsageQuery } from './usage-query.ts'

test('a range that ends before it begins is told apart from one that is too long', () => {
  const read = (text: string) => () => readUsageQuery(new URLSearchParams(text), 0)
  assert.throws(read('from=2026-12-01&to=2026-11-01'), /by to: it is before "from"/)
  assert.throws(
    read('from=2024-12-01&to=2026-11-01'),
    /by from: the range must be at most 400 days/,
  )
})
