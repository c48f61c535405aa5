// What the protocol asks of answers, where clients lean on it seldom: the AWS SDK where it can say it, fetch
// where it cannot.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { sharedErgon } from '../parts.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'

const Bucket = 'storage-protocol'
const MIB = 1_048_576

let ergon: Ergon
let s3: S3Client

before(async () => {
  ergon = sharedErgon()
  s3 = s3ClientOf(ergon)
  await s3.send(new CreateBucketCommand({ Bucket }))
})

const put = (Key: string, Body: string) => s3.send(new PutObjectCommand({ Bucket, Key, Body }))

/** Asks by bearer token, with headers that the SDK would not send. */
const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(`${ergon.baseUrl}/${Bucket}/${path}`, {
    method,
    headers: { authorization: `Bearer ${ergon.token}`, ...headers },
  })

async function assertRefusal(answer: Response, code: string, status: number): Promise<string> {
  const text = await answer.text()
  assert.equal(answer.status, status, text)
  assert.match(text, new RegExp(`<Code>${code}</Code>`))
  return text
}

/** Uploads parts of these numbers, 5 MiB each but the last, and gives what completes them. */
async function uploaded(Key: string, numbers: readonly number[], begin: object = {}) {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ...begin }))
  const upload = { Bucket, Key, UploadId }
  const Parts: { PartNumber: number; ETag: string | undefined }[] = []
  for (const PartNumber of numbers) {
    const size = PartNumber === numbers.at(-1) ? PartNumber : 5 * MIB
    const Body = Buffer.alloc(size, String(PartNumber))
    const { ETag } = await s3.send(new UploadPartCommand({ ...upload, PartNumber, Body }))
    Parts.push({ PartNumber, ETag })
  }
  return { ...upload, MultipartUpload: { Parts } }
}

test('a range counts only for who has the same object', async () => {
  await put('ranged', 'some text')
  const { headers } = await ask('HEAD', 'ranged')
  const part = async (validator: string) => {
    const answer = await ask('GET', 'ranged', { range: 'bytes=0-3', 'if-range': validator })
    return [answer.status, await answer.text()]
  }
  for (const name of ['etag', 'last-modified'])
    assert.deepEqual(await part(headers.get(name) ?? ''), [206, 'some'])
  const old = new Date(Date.parse(headers.get('last-modified') ?? '') - 1000).toUTCString()
  for (const other of ['"nope"', `W/${headers.get('etag')}`, old])
    assert.deepEqual(await part(other), [200, 'some text'], other)
  const past = await ask('GET', 'ranged', { range: 'bytes=100-', 'if-range': '"nope"' })
  assert.equal(past.status, 200)
  const both = await ask('GET', 'ranged', {
    'x-amz-checksum-mode': 'ENABLED',
    range: 'bytes=0-3',
    'if-range': '"nope"',
  })
  assert.ok(both.headers.get('x-amz-checksum-crc32'))
})

test('a delete under a condition that nobody can read deletes nothing', async () => {
  await put('kept', 'four')
  for (const headers of [
    { 'x-amz-if-match-size': 'abc' },
    { 'x-amz-if-match-last-modified-time': 'not a time' },
  ])
    await assertRefusal(await ask('DELETE', 'kept', headers), 'InvalidArgument', 400)
  const { LastModified, ContentLength } = await s3.send(
    new HeadObjectCommand({ Bucket, Key: 'kept' }),
  )
  assert.equal(ContentLength, 4)
  const IfMatchLastModifiedTime = LastModified
  const conditions = { IfMatchSize: 4, IfMatchLastModifiedTime }
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'kept', ...conditions }))
  assert.equal((await ask('HEAD', 'kept')).status, 404)
})

test('parts are asked for by the number that they were uploaded with', async () => {
  const Key = 'gaps'
  await s3.send(
    new CompleteMultipartUploadCommand(
      await uploaded(Key, [1, 3, 7], { ChecksumAlgorithm: 'CRC32' }),
    ),
  )
  const head = async (PartNumber: number) =>
    await s3.send(new HeadObjectCommand({ Bucket, Key, PartNumber, ChecksumMode: 'ENABLED' }))
  const third = await head(3)
  assert.deepEqual([third.ContentLength, third.PartsCount], [5 * MIB, 3])
  assert.equal((await head(7)).ContentLength, 7)
  const read = await s3.send(new GetObjectCommand({ Bucket, Key, PartNumber: 7 }))
  assert.equal(await read.Body?.transformToString(), '7777777')
  assert.equal(read.ContentRange, `bytes ${10 * MIB}-${10 * MIB + 6}/${10 * MIB + 7}`)
  for (const number of [2, 4, 8])
    await assertRefusal(await ask('GET', `${Key}?partNumber=${number}`), 'InvalidPart', 400)

  const page = { Bucket, Key, ObjectAttributes: ['ObjectParts' as const] }
  const { ObjectParts } = await s3.send(
    new GetObjectAttributesCommand({ ...page, MaxParts: 1, PartNumberMarker: '1' }),
  )
  assert.deepEqual(
    ObjectParts?.Parts?.map(({ PartNumber, ChecksumCRC32 }) => [PartNumber, ChecksumCRC32]),
    [[3, third.ChecksumCRC32]],
  )
  assert.deepEqual([ObjectParts?.NextPartNumberMarker, ObjectParts?.IsTruncated], ['3', true])
  for (const headers of [
    { 'x-amz-part-number-marker': 'abc' },
    { 'x-amz-part-number-marker': '-2' },
    { 'x-amz-max-parts': '-1' },
  ]) {
    const asked = { 'x-amz-object-attributes': 'ObjectParts', ...headers }
    await assertRefusal(await ask('GET', `${Key}?attributes`, asked), 'InvalidArgument', 400)
  }
})
