import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bucketNamed, folderOf, keyIn, pathIn, parseTransferEnd, printable } from './place.ts'

test('placeOf() tells objects, paths and the standard streams apart', () => {
  assert.deepEqual(parseTransferEnd('s3://b/a//k?x'), {
    kind: 'object',
    bucket: 'b',
    key: 'a//k?x',
  })
  assert.deepEqual(parseTransferEnd('s3://b'), { kind: 'object', bucket: 'b', key: '' })
  assert.deepEqual(parseTransferEnd('s3:/b/k'), { kind: 'file', path: 's3:/b/k' })
  assert.deepEqual(parseTransferEnd('-'), { kind: 'standard' })
  assert.throws(() => parseTransferEnd('s3:///k'), /No bucket is named/)
})

test('bucketOf() takes a name with or without the scheme, and no key', () => {
  assert.deepEqual(
    [bucketNamed('b'), bucketNamed('s3://b'), bucketNamed('s3://b/')],
    ['b', 'b', 'b'],
  )
  assert.throws(() => bucketNamed('b/k'), /not a bucket/)
})

test('keys of folders end in a slash, and a file put into one keeps its name', () => {
  assert.deepEqual(['', 'a', 'a/'].map(folderOf), ['', 'a/', 'a/'])
  const keys = ['', 'a', 'a/'].map((key) => keyIn(key, 'f'))
  assert.deepEqual(keys, ['f', 'a', 'a/f'])
})

test('pathIn() stays below its folder', () => {
  assert.equal(pathIn('/f', 'a/..b/.c'), '/f/a/..b/.c')
  for (const key of ['', '/a', 'a/', 'a//b', '.', '../a', 'a/../../b', 'a\0b'])
    assert.throws(() => pathIn('/f', key), /No file can have the name/, JSON.stringify(key))
})

test('printable() shows control characters instead of sending them', () => {
  assert.equal(printable('ü\u001b[0m\n\u009b🎈'), 'ü\\x1b[0m\\x0a\\x9b🎈')
})
