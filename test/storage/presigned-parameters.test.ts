// Headers that the presigner of the AWS SDK moves into an address count as headers: for reads, writes, deletes,
// copies and parts; the SDK signs, and fetch sends nothing but the address.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'storage-presigned'
type Command = Parameters<typeof getSignedUrl>[1]

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })
before(async () => {
  await s3.send(new PutObjectCommand({ Bucket, Key: 'source', Body: 'text of the source' }))
})

/** Asks with the address alone. */
async function ask(method: string, command: object, body?: string): Promise<Response> {
  return await fetch(await getSignedUrl(s3, command as Command), { method, ...(body && { body }) })
}

async function assertRefusal(answer: Response, code: string, status: number): Promise<void> {
  const text = await answer.text()
  assert.equal(answer.status, status, text)
  assert.match(text, new RegExp(`<Code>${code}</Code>`))
}

const textOf = async (Key: string): Promise<string | undefined> =>
  await (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString()

const isThere = async (Key: string): Promise<boolean> =>
  await s3.send(new HeadObjectCommand({ Bucket, Key })).then(
    () => true,
    () => false,
  )

test('a presigned PUT stores metadata, tags and class, and refuses what the bucket refuses', async () => {
  const Key = 'attributes'
  const command = new PutObjectCommand({
    Bucket,
    Key,
    Metadata: { name: 'ü b', other: 'x' },
    Tagging: 'a=b&c=d%20e',
    StorageClass: 'STANDARD_IA',
  })
  const answer = await ask('PUT', command, 'a real body')
  assert.equal(answer.status, 200, await answer.text())
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key }))
  assert.deepEqual(head.Metadata, {
    name: `=?UTF-8?B?${Buffer.from('ü b').toString('base64')}?=`,
    other: 'x',
  })
  assert.equal(head.StorageClass, 'STANDARD_IA')
  const { TagSet } = await s3.send(new GetObjectTaggingCommand({ Bucket, Key }))
  assert.deepEqual(TagSet, [
    { Key: 'a', Value: 'b' },
    { Key: 'c', Value: 'd e' },
  ])
  const refused = (Key: string, more: object) =>
    ask('PUT', new PutObjectCommand({ Bucket, Key, ...more }), 'x')
  await assertRefusal(
    await refused('acl', { ACL: 'public-read' }),
    'AccessControlListNotSupported',
    400,
  )
  await assertRefusal(
    await refused('hold', { ObjectLockLegalHoldStatus: 'ON' }),
    'InvalidRequest',
    400,
  )
  await assertRefusal(
    await refused('class', { StorageClass: 'CHEAP' as never }),
    'InvalidStorageClass',
    400,
  )
  for (const key of ['acl', 'hold', 'class']) assert.equal(await isThere(key), false, key)
})

test('an address with other parameters than were signed is refused', async () => {
  const command = new PutObjectCommand({ Bucket, Key: 'tampered', Metadata: { a: 'b' } })
  const url = await getSignedUrl(s3, command)
  assert.match(url, /x-amz-meta-a=b/)
  const put = (address: string, headers = {}) =>
    fetch(address, { method: 'PUT', body: 'x', headers })
  for (const other of [
    url.replace('x-amz-meta-a=b', 'x-amz-meta-a=c'),
    url.replace('x-amz-meta-a=b&', ''),
    `${url}&x-amz-meta-c=d`,
    `${url}&x-amz-copy-source=${Bucket}%2Fsource`,
  ])
    await assertRefusal(await put(other), 'SignatureDoesNotMatch', 403)
  await assertRefusal(await put(url, { 'x-amz-meta-a': 'c' }), 'AccessDenied', 403)
  assert.equal(await isThere('tampered'), false)
})

test('a header that the signer left in its place counts as a header', async () => {
  const url = await getSignedUrl(
    s3,
    new PutObjectCommand({ Bucket, Key: 'both', Metadata: { a: 'header' } }),
    { unhoistableHeaders: new Set(['x-amz-meta-a']) },
  )
  assert.match(url, /SignedHeaders=host%3Bx-amz-meta-a/)
  const headers = { 'x-amz-meta-a': 'header' }
  assert.equal((await fetch(url, { method: 'PUT', body: 'x', headers })).status, 200)
  const { Metadata } = await s3.send(new HeadObjectCommand({ Bucket, Key: 'both' }))
  assert.deepEqual(Metadata, { a: 'header' })
})

test('parameters of a request that is not presigned are none of its headers', async () => {
  const url = `${ergon.baseUrl}/${Bucket}/bearer?x-amz-meta-a=b&x-amz-copy-source=${Bucket}%2Fsource`
  const headers = { authorization: `Bearer ${ergon.token}` }
  assert.equal((await fetch(url, { method: 'PUT', body: 'by token', headers })).status, 200)
  assert.equal(await textOf('bearer'), 'by token')
  const { Metadata } = await s3.send(new HeadObjectCommand({ Bucket, Key: 'bearer' }))
  assert.deepEqual(Metadata, {})
})

test('a checksum in an address is held, and the sum of nothing that stands for any body is not', async () => {
  const wrong = { Bucket, Key: 'summed', ChecksumCRC32: 'AAAAAQ==' }
  await assertRefusal(await ask('PUT', new PutObjectCommand(wrong), 'hello'), 'BadDigest', 400)
  assert.equal(await isThere('summed'), false)
  const right = { Bucket, Key: 'summed', ChecksumCRC32: 'NhCmhg==' }
  assert.equal((await ask('PUT', new PutObjectCommand(right), 'hello')).status, 200)

  for (const requestChecksumCalculation of ['WHEN_SUPPORTED', 'WHEN_REQUIRED'] as const) {
    const client = new S3Client({
      region: 'local',
      endpoint: ergon.baseUrl,
      forcePathStyle: true,
      credentials: { accessKeyId: ergon.token, secretAccessKey: ergon.token },
      requestChecksumCalculation,
    })
    const url = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key: 'any' }))
    const bearsSum = url.includes('x-amz-checksum-crc32=AAAAAA%3D%3D')
    assert.equal(bearsSum, requestChecksumCalculation === 'WHEN_SUPPORTED')
    const answer = await fetch(url, { method: 'PUT', body: requestChecksumCalculation })
    assert.equal(answer.status, 200, await answer.text())
    assert.equal(await textOf('any'), requestChecksumCalculation)
  }
})

test('a presigned copy copies, also into a part', async () => {
  const CopySource = `${Bucket}/source`
  const copy = new CopyObjectCommand({
    Bucket,
    Key: 'copied',
    CopySource,
    MetadataDirective: 'REPLACE',
    Metadata: { of: 'copy' },
  })
  const answer = await ask('PUT', copy)
  assert.match(await answer.text(), /<CopyObjectResult/)
  assert.equal(await textOf('copied'), 'text of the source')
  const { Metadata } = await s3.send(new HeadObjectCommand({ Bucket, Key: 'copied' }))
  assert.deepEqual(Metadata, { of: 'copy' })

  const Key = 'in parts'
  const begun = new CreateMultipartUploadCommand({
    Bucket,
    Key,
    ChecksumAlgorithm: 'SHA256',
    Metadata: { of: 'parts' },
  })
  const started = await ask('POST', begun)
  assert.equal(started.headers.get('x-amz-checksum-algorithm'), 'SHA256')
  const UploadId = /<UploadId>(.*)<\/UploadId>/.exec(await started.text())?.[1]
  const upload = { Bucket, Key, UploadId }
  const partCopy = new UploadPartCopyCommand({
    ...upload,
    PartNumber: 1,
    CopySource,
    CopySourceRange: 'bytes=5-6',
  })
  const copied = await (await ask('PUT', partCopy)).text()
  const first = /<ETag>(?:&quot;|")(.*?)(?:&quot;|")<\/ETag>/.exec(copied)?.[1]
  assert.ok(first, copied)
  const again = new UploadPartCommand({ ...upload, PartNumber: 1 })
  const part = await ask('PUT', again, 'a whole part')
  assert.equal(part.status, 200, await part.text())
  const ETag = part.headers.get('etag') ?? ''
  assert.notEqual(ETag, `"${first}"`)
  const ChecksumSHA256 = part.headers.get('x-amz-checksum-sha256') ?? ''
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag, ChecksumSHA256 }] }
  await s3.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload }))
  assert.equal(await textOf(Key), 'a whole part')
  const whole = await s3.send(new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }))
  assert.deepEqual([whole.Metadata, whole.ChecksumType], [{ of: 'parts' }, 'COMPOSITE'])
})

test('a presigned DELETE, GET and HEAD heed their conditions', async () => {
  const wrong = new DeleteObjectCommand({ Bucket, Key: 'source', IfMatchSize: 999 })
  await assertRefusal(await ask('DELETE', wrong), 'PreconditionFailed', 412)
  const owner = { Bucket, Key: 'source', ExpectedBucketOwner: 'acc_other' }
  await assertRefusal(await ask('GET', new GetObjectCommand(owner)), 'AccessDenied', 403)
  assert.equal((await ask('HEAD', new HeadObjectCommand(owner))).status, 403)
  const summed = new GetObjectCommand({ Bucket, Key: 'source', ChecksumMode: 'ENABLED' })
  const read = await ask('GET', summed)
  assert.equal(await read.text(), 'text of the source')
  assert.ok(read.headers.get('x-amz-checksum-crc32'))

  await s3.send(new PutObjectCommand({ Bucket, Key: 'gone', Body: 'four' }))
  const right = new DeleteObjectCommand({ Bucket, Key: 'gone', IfMatchSize: 4 })
  assert.equal((await ask('DELETE', right)).status, 204)
  assert.equal(await isThere('gone'), false)
})

test('the key of a client is not taken from an address', async () => {
  const url = await getSignedUrl(
    s3,
    new PutObjectCommand({
      Bucket,
      Key: 'customer',
      SSECustomerAlgorithm: 'AES256',
      SSECustomerKey: 'k'.repeat(32),
    }),
    { hoistableHeaders: new Set(['x-amz-server-side-encryption-customer-key']) },
  )
  assert.match(url, /customer-key=/)
  await assertRefusal(await fetch(url, { method: 'PUT', body: 'x' }), 'InvalidRequest', 400)
  assert.equal(await isThere('customer'), false)
})
