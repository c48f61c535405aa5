import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { ErgonError } from '#base/errors.ts'
import {
  checkCustomerKey,
  checkReadHeaders,
  encryptionHeaders,
  encryptionOfWrite,
  parseBucketEncryption,
  parseCustomerKey,
  printBucketEncryption,
  type BucketEncryption,
} from './encryption.ts'

const KEY = Buffer.alloc(32, 7)
const md5Of = (bytes: Buffer) => createHash('md5').update(bytes).digest('base64')
const SSE = 'x-amz-server-side-encryption'
const CUSTOMER = {
  [`${SSE}-customer-algorithm`]: 'AES256',
  [`${SSE}-customer-key`]: KEY.toString('base64'),
  [`${SSE}-customer-key-md5`]: md5Of(KEY),
}
const KMS = { [SSE]: 'aws:kms', [`${SSE}-aws-kms-key-id`]: 'testkey-1' }
const POLICY = { hasKey: (keyId: string) => keyId === 'testkey-1', mayCarryKeys: true }
const refused =
  (code: string, status = 400) =>
  (error: ErgonError) =>
    error.code === code && error.status === status
const write = (headers: object, bucket?: BucketEncryption) =>
  encryptionOfWrite({ ...headers }, bucket, POLICY)

test('the encryption of a bucket survives XML', () => {
  const rows: BucketEncryption[] = [
    { kind: 'SSE-S3', bucketKey: false },
    { kind: 'SSE-KMS', keyId: 'a&b', bucketKey: true },
  ]
  for (const row of rows)
    assert.deepEqual(parseBucketEncryption(Buffer.from(printBucketEncryption(row))), row)
  const good = printBucketEncryption({ kind: 'SSE-S3', bucketKey: false })
  const parse = (from: string, to: string) => () =>
    parseBucketEncryption(Buffer.from(good.replace(from, to)))
  assert.throws(parse('AES256', 'ROT13'), refused('MalformedXML'))
  assert.throws(parse('AES256', 'aws:kms'), refused('InvalidArgument'))
  assert.throws(parse('AES256', 'aws:kms:dsse'), refused('NotImplemented', 501))
  const keyed = '</SSEAlgorithm><KMSMasterKeyID>k</KMSMasterKeyID>'
  assert.throws(parse('</SSEAlgorithm>', keyed), refused('InvalidArgument'))
})

test('encryptionOfWrite() follows the headers, else the bucket', () => {
  const bucket: BucketEncryption = { kind: 'SSE-KMS', keyId: 'testkey-1', bucketKey: false }
  const context = Buffer.from('{"a":"b"}').toString('base64')
  assert.equal(write({}), undefined)
  assert.deepEqual(write({}, bucket), { encryption: { kind: 'SSE-KMS', keyId: 'testkey-1' } })
  assert.deepEqual(write({ [SSE]: 'AES256' }, bucket), { encryption: { kind: 'SSE-S3' } })
  assert.deepEqual(write({ ...KMS, [`${SSE}-context`]: context }), {
    encryption: { kind: 'SSE-KMS', keyId: 'testkey-1', context },
  })
  assert.deepEqual(write(CUSTOMER, bucket), {
    encryption: { kind: 'SSE-C', keyMd5: md5Of(KEY) },
    customerKey: { key: KEY, keyMd5: md5Of(KEY) },
  })
})

test('encryptionOfWrite() refuses headers that contradict each other or themselves', () => {
  const short = Buffer.alloc(16)
  const rows: [headers: object, code: string, status?: number][] = [
    [{ ...CUSTOMER, [SSE]: 'AES256' }, 'InvalidArgument'],
    [{ ...CUSTOMER, ...KMS }, 'InvalidArgument'],
    [{ ...CUSTOMER, [`${SSE}-customer-algorithm`]: 'AES192' }, 'InvalidEncryptionAlgorithmError'],
    [{ ...CUSTOMER, [`${SSE}-customer-algorithm`]: undefined }, 'InvalidArgument'],
    [{ ...CUSTOMER, [`${SSE}-customer-key`]: undefined }, 'InvalidArgument'],
    [{ ...CUSTOMER, [`${SSE}-customer-key-md5`]: undefined }, 'InvalidArgument'],
    [{ ...CUSTOMER, [`${SSE}-customer-key-md5`]: md5Of(short) }, 'InvalidArgument'],
    [{ ...CUSTOMER, [`${SSE}-customer-key`]: short.toString('base64') }, 'InvalidArgument'],
    [{ [SSE]: 'aes:kms' }, 'InvalidArgument'],
    [{ [SSE]: 'aws:kms' }, 'InvalidArgument'],
    [{ [SSE]: 'aws:kms:dsse' }, 'NotImplemented', 501],
    [{ ...KMS, [SSE]: 'AES256' }, 'InvalidArgument'],
    [{ ...KMS, [SSE]: undefined }, 'InvalidArgument'],
    [{ ...KMS, [`${SSE}-aws-kms-key-id`]: 'other' }, 'KMS.NotFoundException'],
    [{ ...KMS, [`${SSE}-context`]: 'e30x' }, 'InvalidArgument'],
    [{ ...KMS, [`${SSE}-context`]: 'W10=' }, 'InvalidArgument'],
  ]
  for (const [headers, code, status] of rows)
    assert.throws(() => write(headers), refused(code, status), JSON.stringify(headers))
  assert.throws(
    () => encryptionOfWrite(CUSTOMER, undefined, { ...POLICY, mayCarryKeys: false }),
    refused('InvalidRequest'),
  )
})

test('reads bring the key of the object, and nothing else', () => {
  const stored = { kind: 'SSE-C', keyMd5: md5Of(KEY) } as const
  const given = parseCustomerKey(CUSTOMER, POLICY)
  const other = Buffer.alloc(32, 8)
  checkCustomerKey(stored, given)
  checkCustomerKey(undefined, undefined)
  checkCustomerKey({ kind: 'SSE-S3' }, undefined)
  const bad = refused('InvalidRequest')
  assert.throws(() => checkCustomerKey(stored, undefined), bad)
  assert.throws(() => checkCustomerKey({ kind: 'SSE-S3' }, given), bad)
  assert.throws(() => checkCustomerKey(stored, { key: other, keyMd5: md5Of(other) }), bad)
  checkReadHeaders(CUSTOMER)
  assert.throws(() => checkReadHeaders(KMS), refused('InvalidArgument'))
  const source = Object.fromEntries(
    Object.entries(CUSTOMER).map(([name, value]) => [
      name.replace('x-amz-', 'x-amz-copy-source-'),
      value,
    ]),
  )
  assert.deepEqual(parseCustomerKey(source, POLICY, 'copy-source'), given)
  assert.equal(parseCustomerKey(source, POLICY), undefined)
})

test('encryptionHeaders() never tells the key', () => {
  assert.deepEqual(encryptionHeaders(undefined), {})
  assert.deepEqual(encryptionHeaders({ kind: 'SSE-S3' }), { [SSE]: 'AES256' })
  assert.deepEqual(encryptionHeaders({ kind: 'SSE-KMS', keyId: 'testkey-1' }), KMS)
  const { [`${SSE}-customer-key`]: _, ...told } = CUSTOMER
  assert.deepEqual(encryptionHeaders({ kind: 'SSE-C', keyMd5: md5Of(KEY) }), told)
})
