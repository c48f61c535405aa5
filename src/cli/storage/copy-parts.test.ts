import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copySourceOf, rangesOf } from './copy-parts.ts'

test('rangesOf() covers every byte once, in 10,000 parts at most', () => {
  assert.deepEqual(rangesOf(11, 5), [
    { first: 0, last: 4 },
    { first: 5, last: 9 },
    { first: 10, last: 10 },
  ])
  assert.deepEqual(rangesOf(10, 5).at(-1), { first: 5, last: 9 })
  const size = 5 * 1024 ** 4 + 1
  const ranges = rangesOf(size, 64 * 1024 ** 2)
  assert.ok(ranges.length <= 10_000)
  assert.equal(ranges.at(-1)?.last, size - 1)
  for (const [at, { first }] of ranges.entries())
    assert.equal(first, at === 0 ? 0 : (ranges[at - 1]?.last ?? 0) + 1)
})

test('copySourceOf() encodes a key and keeps its slashes', () => {
  const place = { kind: 'object', bucket: 'b', key: 'a b/ü?versionId=x' } as const
  assert.equal(copySourceOf(place), 'b/a%20b/%C3%BC%3FversionId%3Dx')
  assert.equal(copySourceOf(place, 'v1'), 'b/a%20b/%C3%BC%3FversionId%3Dx?versionId=v1')
})
