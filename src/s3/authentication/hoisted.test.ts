import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ALGORITHMS, createHashers } from '#s3/checksums/algorithms.ts'
import { parseTarget } from '#s3/target.fixture.ts'
import { SUMS_OF_NOTHING, withHoisted } from './hoisted.ts'

const BASES = { api: ['localhost'], website: ['website.localhost'] }
const SIGNED = 'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=a&X-Amz-Signature=b'

const read = (query: string, headers = {}, host = 'localhost') =>
  withHoisted(parseTarget(`/b/k?${query}`, host, BASES), headers)

test('withHoisted() adds what a presigned address says, without its signature', () => {
  const query = `${SIGNED}&X-Amz-Date=1&X-Amz-Expires=1&X-Amz-SignedHeaders=host&X-Amz-Content-Sha256=c`
  assert.deepEqual(read(`${query}&X-Amz-Acl=private&x-amz-meta-a=%C3%BC%20b&versionId=1`), {
    'x-amz-acl': 'private',
    'x-amz-meta-a': Buffer.from('ü b').toString('latin1'),
  })
})

test('withHoisted() lets headers win, and of a repeated name the first', () => {
  const headers = { 'x-amz-acl': 'private', host: 'localhost' }
  assert.deepEqual(read(`${SIGNED}&x-amz-acl=public-read`, headers), headers)
  const twice = read(`${SIGNED}&x-amz-acl=private&X-Amz-Acl=public-read`)
  assert.deepEqual(twice, { 'x-amz-acl': 'private' })
})

test('withHoisted() adds nothing where the query does not sign, nor to a page', () => {
  assert.deepEqual(read('x-amz-acl=public-read', { authorization: 'Bearer t' }), {
    authorization: 'Bearer t',
  })
  assert.deepEqual(read(`${SIGNED}&x-amz-acl=private`, {}, 'b.website.localhost'), {})
})

test('withHoisted() refuses what no header holds, and keys in addresses', () => {
  for (const value of ['a%0D%0Ab', 'a%01', '%7F'])
    assert.throws(() => read(`${SIGNED}&x-amz-meta-a=${value}`), { code: 'InvalidArgument' })
  for (const side of ['', 'copy-source-'])
    assert.throws(() => read(`${SIGNED}&x-amz-${side}server-side-encryption-customer-key=a`), {
      code: 'InvalidRequest',
    })
})

test('withHoisted() leaves out the sum of nothing that the SDK puts there, and no other', async () => {
  const hashers = createHashers()
  for (const algorithm of ALGORITHMS) {
    const sum = (await hashers.open(algorithm)).digest().toString('base64')
    assert.equal(SUMS_OF_NOTHING[algorithm], sum, algorithm)
    const header = `x-amz-checksum-${algorithm.toLowerCase()}`
    const pair = `${SIGNED}&${header}=${encodeURIComponent(sum)}`
    assert.deepEqual(read(`${pair}&x-amz-sdk-checksum-algorithm=${algorithm}`), {})
    assert.deepEqual(read(pair), { [header]: sum })
  }
  const other = `${SIGNED}&x-amz-checksum-crc32=NhCmhg%3D%3D&x-amz-sdk-checksum-algorithm=CRC32`
  assert.deepEqual(Object.keys(read(other)).toSorted(), [
    'x-amz-checksum-crc32',
    'x-amz-sdk-checksum-algorithm',
  ])
})
