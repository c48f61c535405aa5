// Requests on objects: ranges, conditions, headers, names, copy sources and the XML of bodies.
import assert from 'node:assert/strict'
import { validateHeaderValue, type IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import fc from 'fast-check'
import { checkBucketName, isBucketName } from '#s3/bucket-name.ts'
import {
  checkCopySource,
  checkRead,
  honoursRange,
  parsePreconditions,
  parseDeleteConditions,
} from './conditions.ts'
import { parseCopySource } from './copy-source.ts'
import { deletedXml, parseDelete } from './delete-xml.ts'
import { decodeWords, encodeWords } from './encoded-words.ts'
import { objectHeaders, overriddenHeaders, replyHeaders } from './headers.ts'
import { completedXml, parseComplete, parsePartNumber } from '#s3/multipart/multipart-xml.ts'
import { contentRange } from '#http/byte-range.ts'
import { parseCopyRange, parseRange } from './range.ts'

test('parseRange() serves one range inside the object', () => {
  assert.deepEqual(parseRange('bytes=4-7', 11), { start: 4, end: 7 })
  assert.deepEqual(parseRange('bytes=4-', 11), { start: 4, end: 10 })
  assert.deepEqual(parseRange('bytes=-7', 11), { start: 4, end: 10 })
  assert.deepEqual(parseRange('bytes=-70', 11), { start: 0, end: 10 })
  assert.deepEqual(parseRange('bytes=4-700', 11), { start: 4, end: 10 })
  for (const header of [
    undefined,
    '',
    'bytes=',
    'bytes=-',
    'bytes=5-4',
    'bytes=0-1,3-4',
    'lines=1-2',
  ])
    assert.equal(parseRange(header, 11), undefined, header)
  for (const [header, size] of [
    ['bytes=11-', 11],
    ['bytes=40-50', 0],
    ['bytes=-0', 11],
    ['bytes=-1', 0],
  ] as const)
    assert.throws(() => parseRange(header, size), { code: 'InvalidRange', status: 416 }, header)
  assert.equal(contentRange({ start: 4, end: 7 }, 11), 'bytes 4-7/11')
  assert.equal(contentRange(undefined, 11), 'bytes */11')
})

test('parseRange() gives what is inside any object', () => {
  fc.assert(
    fc.property(fc.nat(50), fc.nat(50), fc.integer({ min: 1, max: 40 }), (start, more, size) => {
      fc.pre(start < size)
      const range = parseRange(`bytes=${start}-${start + more}`, size)
      assert.deepEqual(range, { start, end: Math.min(start + more, size - 1) })
    }),
  )
})

test('parseCopyRange() takes nothing but first and last inside the source', () => {
  assert.deepEqual(parseCopyRange('bytes=0-4', 5), { start: 0, end: 4 })
  assert.throws(() => parseCopyRange('bytes=0-21', 5), { code: 'InvalidRange' })
  for (const header of [
    '0-2',
    'bytes=0',
    'bytes=hello-world',
    'bytes=0-bar',
    'bytes=hello-',
    'bytes=0-2,3-5',
    'bytes=3-2',
  ])
    assert.throws(() => parseCopyRange(header, 5), { code: 'InvalidArgument' }, header)
})

const MODIFIED_MS = Date.UTC(2026, 10, 21, 9, 0, 0, 500)
const CURRENT = { etag: 'abc', modifiedMs: MODIFIED_MS }
const at = (offsetS: number) => new Date(MODIFIED_MS + offsetS * 1000).toUTCString()

test('checkRead() follows the order of RFC 9110', () => {
  const check = (headers: Record<string, string>) => checkRead(parsePreconditions(headers), CURRENT)
  const code = (expected: string, headers: Record<string, string>) =>
    assert.throws(() => check(headers), { code: expected }, JSON.stringify(headers))
  for (const tag of ['abc', '"abc"', 'W/"abc"', '*', '"x", "abc"']) {
    check({ 'if-match': tag })
    code('NotModified', { 'if-none-match': tag })
  }
  code('PreconditionFailed', { 'if-match': '"x"' })
  check({ 'if-none-match': '"x"' })
  check({ 'if-unmodified-since': at(0) })
  code('PreconditionFailed', { 'if-unmodified-since': at(-1) })
  code('NotModified', { 'if-modified-since': at(0) })
  check({ 'if-modified-since': at(-1) })
  check({ 'if-match': 'abc', 'if-unmodified-since': at(-1) })
  check({ 'if-none-match': 'x', 'if-modified-since': at(0) })
  check({ 'if-modified-since': 'yesterday' })
})

test('checkCopySource() knows one answer only', () => {
  const conditions = parsePreconditions(
    { 'x-amz-copy-source-if-none-match': 'abc' },
    'x-amz-copy-source-',
  )
  assert.throws(() => checkCopySource(conditions, CURRENT), { code: 'PreconditionFailed' })
})

test('honoursRange() wants the very tag or the very date', () => {
  const heeds = (validator?: string) =>
    honoursRange(validator === undefined ? {} : { 'if-range': validator }, CURRENT)
  for (const validator of [undefined, '"abc"', at(0)]) assert.equal(heeds(validator), true)
  for (const validator of ['"nope"', 'W/"abc"', 'abc', '*', '', '"x", "abc"', at(1), at(-1), 'now'])
    assert.equal(heeds(validator), false, validator)
})

test('conditions of copies and deletes that nobody can read are refused', () => {
  const refused = (parse: (headers: IncomingHttpHeaders) => unknown, headers: object) =>
    assert.throws(() => parse({ ...headers }), { code: 'InvalidArgument' }, JSON.stringify(headers))
  for (const name of ['if-modified-since', 'if-unmodified-since'])
    refused((headers) => parsePreconditions(headers, 'x-amz-copy-source-'), {
      [`x-amz-copy-source-${name}`]: 'not a time',
    })
  for (const size of ['abc', '', '-1', '1.5', '0x10', ' ', '1e3'])
    refused(parseDeleteConditions, { 'x-amz-if-match-size': size })
  for (const time of ['not a time', ''])
    refused(parseDeleteConditions, { 'x-amz-if-match-last-modified-time': time })
  const given = { 'x-amz-if-match-size': '0', 'x-amz-if-match-last-modified-time': at(0) }
  assert.deepEqual(parseDeleteConditions({ ...given, 'if-match': '"a"' }), {
    etag: 'a',
    modifiedMs: Date.parse(at(0)),
    bytes: 0,
  })
  assert.deepEqual(parseDeleteConditions({}), {
    etag: undefined,
    modifiedMs: undefined,
    bytes: undefined,
  })
})

test('objectHeaders() keeps what belongs to the object', () => {
  const stored = objectHeaders({
    'content-type': 'text/plain',
    'content-encoding': 'gzip, aws-chunked',
    'cache-control': 'no-cache',
    expires: 'Thu, 01 Dec 2026 16:00:00 GMT',
    'content-length': '3',
    'x-amz-meta-name': Buffer.from('Zoë').toString('latin1'),
    'x-amz-meta-empty': '',
    'x-amz-acl': 'private',
  })
  assert.deepEqual(stored.metadata, { name: 'Zoë', empty: '' })
  assert.deepEqual(replyHeaders(stored), {
    'content-type': 'text/plain',
    'content-encoding': 'gzip',
    'cache-control': 'no-cache',
    expires: 'Thu, 01 Dec 2026 16:00:00 GMT',
    'x-amz-meta-name': '=?UTF-8?B?Wm/Dqw==?=',
    'x-amz-meta-empty': '',
  })
  assert.equal(objectHeaders({}).system.contentType, 'binary/octet-stream')
  assert.equal(
    objectHeaders({ 'content-encoding': 'aws-chunked' }).system.contentEncoding,
    undefined,
  )
})

test('objectHeaders() refuses what cannot go back out', () => {
  const big = { 'x-amz-meta-a': 'x'.repeat(2048) }
  assert.throws(() => objectHeaders(big), { code: 'MetadataTooLarge' })
  objectHeaders({ 'x-amz-meta-a': 'x'.repeat(2047) })
  for (const value of ['a\r\nb', 'a\0b', 'a\u0100'])
    assert.throws(() => objectHeaders({ 'x-amz-meta-a': value }), { code: 'InvalidArgument' })
  for (const name of ['a b', 'ü', 'a:', 'a\n'])
    assert.throws(() => objectHeaders({ [`x-amz-meta-${name}`]: 'v' }), { code: 'InvalidArgument' })
  assert.throws(() => objectHeaders({ 'cache-control': 'x'.repeat(9000) }), {
    code: 'InvalidArgument',
    message: 'The value of cache-control has 9000 characters: the limit is 8192',
  })
  assert.throws(() => objectHeaders({ 'x-amz-website-redirect-location': 'x' }), {
    code: 'InvalidRedirectLocation',
  })
})

test('overriddenHeaders() never makes a header that Node refuses', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      let headers: Record<string, string>
      try {
        headers = overriddenHeaders(new Map([['response-content-disposition', value]]), false)
      } catch (error) {
        assert.equal((error as { code: string }).code, 'InvalidArgument')
        return
      }
      validateHeaderValue('content-disposition', headers['content-disposition']!)
    }),
  )
  assert.throws(() => overriddenHeaders(new Map([['response-expires', 'x']]), true), {
    code: 'InvalidRequest',
  })
})

test('encodeWords() makes short ASCII words that decode to the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 90 }), (text) => {
      fc.pre(!text.includes('\0') && !text.includes('\ufffd') && !text.includes('=?'))
      const encoded = encodeWords(text)
      assert.match(encoded, /^[\t -~]*$/)
      assert.equal(decodeWords(encoded), text)
      if (encoded !== text) for (const word of encoded.split(' ')) assert.ok(word.length <= 75)
    }),
  )
  assert.equal(decodeWords('=?utf-8?Q?a=C3=A9_b?='), 'aé b')
})

test('checkBucketName() takes the names that AWS takes', () => {
  for (const name of ['abc', 'a.b.c', '0-1', 'x'.repeat(63)]) checkBucketName(name)
  const bad = [
    '',
    'a',
    'aa',
    'x'.repeat(64),
    'Abc',
    'foo_bar',
    'foo-',
    '-foo',
    'foo..bar',
    'foo.-bar',
    'foo-.bar',
    '.foo',
    '192.168.5.123',
    'xn--abc',
    'a-s3alias',
    'metrics',
    'website',
    'a b',
    'a/b',
    'abc\n',
  ]
  for (const name of bad) assert.equal(isBucketName(name), false, name)
  assert.throws(() => checkBucketName('_x'), { code: 'InvalidBucketName' })
})

test('parseCopySource() reads the forms that clients send', () => {
  const of = (header: string) => parseCopySource(header)
  assert.deepEqual(of('/b/a%20b/c'), { bucket: 'b', key: 'a b/c', versionId: undefined })
  assert.deepEqual(of('b/k?versionId=null'), { bucket: 'b', key: 'k', versionId: 'null' })
  assert.deepEqual(of('b/k?x'), { bucket: 'b', key: 'k?x', versionId: undefined })
  assert.equal(of('b/%3Fx').key, '?x')
  for (const header of ['', 'b', 'b/', '/'])
    assert.throws(() => of(header), { code: 'InvalidArgument' })
})

test('parseDelete() reads up to 1,000 keys', () => {
  const body = (inner: string) => Buffer.from(`<Delete>${inner}</Delete>`)
  const { quiet, targets } = parseDelete(
    body(
      '<Quiet>true</Quiet><Object><Key>a&amp;b</Key><VersionId>v</VersionId><ETag>"e"</ETag></Object>',
    ),
  )
  assert.equal(quiet, true)
  assert.deepEqual(targets, [
    {
      key: 'a&b',
      versionId: 'v',
      conditions: { etag: 'e', modifiedMs: undefined, bytes: undefined },
    },
  ])
  const many = (count: number) => body('<Object><Key>k</Key></Object>'.repeat(count))
  assert.equal(parseDelete(many(1000)).targets.length, 1000)
  for (const bytes of [
    many(1001),
    body(''),
    body('<Object/>'),
    body('<Object><Key></Key></Object>'),
  ])
    assert.throws(() => parseDelete(bytes), { code: 'MalformedXML' })
  for (const condition of ['<Size>abc</Size>', '<Size/>', '<LastModifiedTime>x</LastModifiedTime>'])
    assert.throws(() => parseDelete(body(`<Object><Key>k</Key>${condition}</Object>`)), {
      code: 'MalformedXML',
    })
  const key = 'x'.repeat(1025)
  assert.throws(() => parseDelete(body(`<Object><Key>${key}</Key></Object>`)), {
    code: 'KeyTooLongError',
  })
})

test('deletedXml() names only failures when it is to be quiet', () => {
  const failed = [{ key: 'b', code: 'AccessDenied', message: 'Access Denied' }]
  const xml = deletedXml([{ key: 'a', marker: { versionId: 'm' } }], failed, false)
  assert.match(
    xml,
    /<Deleted><Key>a<\/Key><DeleteMarker>true<\/DeleteMarker><DeleteMarkerVersionId>m</,
  )
  assert.doesNotMatch(deletedXml([{ key: 'a' }], failed, true), /<Deleted>/)
})

test('parseComplete() reads parts in ascending order', () => {
  const body = (inner: string) =>
    Buffer.from(`<CompleteMultipartUpload>${inner}</CompleteMultipartUpload>`)
  const part = (number: number | string, more = '') =>
    `<Part><PartNumber>${number}</PartNumber><ETag>"e${number}"</ETag>${more}</Part>`
  const crc = '<ChecksumCRC32>AAAAAA==</ChecksumCRC32>'
  assert.deepEqual(parseComplete(body(part(1, crc) + part(3))), [
    { number: 1, etag: 'e1', checksum: { algorithm: 'CRC32', text: 'AAAAAA==' } },
    { number: 3, etag: 'e3', checksum: undefined },
  ])
  assert.throws(() => parseComplete(body(part(2) + part(1))), { code: 'InvalidPartOrder' })
  assert.throws(() => parseComplete(body(part(1) + part(1))), { code: 'InvalidPartOrder' })
  for (const inner of ['', part(0), part(10_001), part('x'), '<Part/>', part(1, '<Other/>')])
    assert.throws(() => parseComplete(body(inner)), { code: 'MalformedXML' }, inner)
  assert.equal(parsePartNumber('10000'), 10_000)
  for (const text of [undefined, '', '0', '10001', '-1', '1.5'])
    assert.throws(() => parsePartNumber(text), { code: 'InvalidArgument' })
  const checksum = { algorithm: 'CRC64NVME', text: 'x', type: 'FULL_OBJECT' } as const
  assert.match(
    completedXml({ location: 'l', bucket: 'b', key: 'k', etag: 'e-1', checksum }),
    /<ETag>&quot;e-1&quot;<\/ETag><ChecksumCRC64NVME>x<\/ChecksumCRC64NVME><ChecksumType>FULL_OBJECT</,
  )
})
