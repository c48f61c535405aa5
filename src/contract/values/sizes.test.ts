// Sizes with units: read, bounded, and printed so that they are read again.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bytesOfSize, sizeText } from './sizes.ts'

test('bytesOfSize() reads whole numbers of a unit within the range, and nothing else', () => {
  const range = { least: '64MB', most: '1TB' }
  const texts = [
    '64MB',
    '64 MiB',
    '1GB',
    '1TB',
    '63MB',
    '1TiB',
    '1.5GB',
    '-1GB',
    '1gb',
    '1',
    'GB',
    '',
  ]
  assert.deepEqual(
    texts.map((text) => bytesOfSize(text, range)),
    [64e6, 64 * 2 ** 20, 1e9, 1e12, ...Array.from({ length: 8 }, () => undefined)],
  )
})

test('sizeText() is read as the same bytes', () => {
  const range = { least: '1kB', most: '4TiB' }
  for (const text of ['128MB', '96MiB', '1GiB', '1GB', '1001kB', '3TiB', '1025KiB', '1000000KiB'])
    assert.equal(
      bytesOfSize(sizeText(bytesOfSize(text, range) ?? 0), range),
      bytesOfSize(text, range),
    )
  assert.deepEqual([128e6, 1e9, 2 ** 30, 1536 * 2 ** 20].map(sizeText), [
    '128MB',
    '1GB',
    '1GiB',
    '1536MiB',
  ])
})
