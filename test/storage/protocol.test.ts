// The protocol's demands on answers that clients seldom use: by the AWS SDK where it can send the request, else by
// fetch.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  type CompletedPart,
} from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'storage-protocol'
const MIB = 1_048_576

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

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
async function uploaded(
  Key: string,
  numbers: readonly number[],
  begin: { ChecksumAlgorithm?: 'CRC32' | 'SHA256'; ChecksumType?: 'COMPOSITE' } = {},
) {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ...begin }))
  const upload = { Bucket, Key, UploadId }
  const { ChecksumAlgorithm } = begin
  const Parts: CompletedPart[] = []
  for (const PartNumber of numbers) {
    const size = PartNumber === numbers.at(-1) ? PartNumber : 5 * MIB
    const Body = Buffer.alloc(size, String(PartNumber))
    const { ETag, ChecksumCRC32, ChecksumSHA256 } = await s3.send(
      new UploadPartCommand({ ...upload, PartNumber, Body, ChecksumAlgorithm }),
    )
    // A checksum of the whole that is made of the parts' wants them told.
    const sums = ChecksumAlgorithm === undefined ? {} : { ChecksumCRC32, ChecksumSHA256 }
    Parts.push({ PartNumber, ETag, ...sums })
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
    await assertRefusal(await ask('GET', `${Key}?partNumber=${number}`), 'InvalidPartNumber', 416)

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

test('a completion that says another size or type than its parts have is refused', async () => {
  const complete = async (Key: string, more: object) =>
    await s3.send(
      new CompleteMultipartUploadCommand({
        ...(await uploaded(Key, [1], { ChecksumAlgorithm: 'CRC32', ChecksumType: 'COMPOSITE' })),
        ...more,
      }),
    )
  await assert.rejects(complete('short', { MpuObjectSize: 2 }), { name: 'InvalidRequest' })
  await assert.rejects(complete('type', { ChecksumType: 'FULL_OBJECT' }), { name: 'BadDigest' })
  for (const key of ['short', 'type']) assert.equal((await ask('HEAD', key)).status, 404)
  await complete('right', { MpuObjectSize: 1, ChecksumType: 'COMPOSITE' })
})

test('a completion that says a checksum of another algorithm than its upload has is refused', async () => {
  const complete = async (Key: string, more: object, ofParts?: object) => {
    const whole = await uploaded(Key, [1], { ChecksumAlgorithm: 'CRC32' })
    const Parts = whole.MultipartUpload?.Parts?.map((part) => ({ ...part, ...ofParts }))
    const asked = { ...whole, ...more, MultipartUpload: { Parts } }
    return await s3.send(new CompleteMultipartUploadCommand(asked))
  }
  const ChecksumSHA256 = createHash('sha256').update('1').digest('base64')
  const other = complete('other', { ChecksumSHA256 })
  await assert.rejects(other, {
    name: 'InvalidRequest',
    message: /expected checksum Type: crc32, /,
  })
  const ofPart = { ChecksumCRC32: undefined, ChecksumSHA256 }
  await assert.rejects(complete('other', {}, ofPart), {
    name: 'BadDigest',
    message: /The sha256 you specified for part 1 /,
  })
  await assert.rejects(complete('other', {}, { ChecksumCRC32: 'AAAAAA==' }), {
    name: 'InvalidPart',
  })
  assert.equal((await ask('HEAD', 'other')).status, 404)
  await complete('other', {})
})

test('a copy has the checksum that it asks for, also onto itself', async () => {
  const sums = async (Key: string) => {
    const { ChecksumSHA256, ChecksumCRC32, ChecksumType } = await s3.send(
      new HeadObjectCommand({ Bucket, Key, ChecksumMode: 'ENABLED' }),
    )
    return { ChecksumSHA256, ChecksumCRC32, ChecksumType }
  }
  const copy = (Key: string, from: string, more: object = {}) =>
    s3.send(new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/${from}`, ...more }))
  await put('summed', 'hello')
  const ChecksumAlgorithm = 'SHA256'
  const ChecksumSHA256 = createHash('sha256').update('hello').digest('base64')
  const wanted = { ChecksumSHA256, ChecksumCRC32: undefined, ChecksumType: 'FULL_OBJECT' }
  const { CopyObjectResult } = await copy('by sha', 'summed', { ChecksumAlgorithm })
  assert.equal(CopyObjectResult?.ChecksumSHA256, ChecksumSHA256)
  assert.deepEqual(await sums('by sha'), wanted)
  await copy('plain', 'summed')
  assert.equal((await sums('plain')).ChecksumCRC32, 'NhCmhg==')
  await copy('summed', 'summed', { ChecksumAlgorithm })
  assert.deepEqual(await sums('summed'), wanted)
  await assert.rejects(copy('summed', 'summed', { ChecksumAlgorithm }), { name: 'InvalidRequest' })
  await assert.rejects(copy('none', 'summed', { ChecksumAlgorithm: 'CRC7' as never }), {
    name: 'InvalidRequest',
  })

  // Of parts a composite sum is known, and the copy has that of its bytes.
  const parts = await uploaded('of parts', [1, 2], { ChecksumAlgorithm })
  const { ETag } = await s3.send(new CompleteMultipartUploadCommand(parts))
  assert.equal((await sums('of parts')).ChecksumType, 'COMPOSITE')
  const whole = await copy('of parts whole', 'of parts', { ChecksumAlgorithm })
  const bytes = Buffer.concat([Buffer.alloc(5 * MIB, '1'), Buffer.from('22')])
  const sum = createHash('sha256').update(bytes).digest('base64')
  assert.deepEqual(await sums('of parts whole'), { ...wanted, ChecksumSHA256: sum })
  assert.equal(whole.CopyObjectResult?.ETag, ETag)
})

test('every answer says which request it is of', async () => {
  await put('small', 'x')
  await put('large', 'x'.repeat(2 * MIB))
  const { headers } = await ask('HEAD', 'small')
  const answers = await Promise.all([
    ask('GET', 'small'),
    ask('GET', 'large'),
    ask('HEAD', 'small'),
    ask('GET', '?analytics'),
    ask('GET', 'none'),
    ask('DELETE', 'none'),
    ask('GET', 'small', { 'if-none-match': headers.get('etag') ?? '' }),
  ])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 404, 204, 304],
  )
  for (const answer of answers) {
    await answer.arrayBuffer()
    assert.match(answer.headers.get('x-amz-request-id') ?? '', /^req_/, String(answer.status))
    assert.ok(answer.headers.get('x-amz-id-2'), String(answer.status))
  }
  const { $metadata } = await put('small', 'y')
  assert.match($metadata.requestId ?? '', /^req_/)
})

test('the place of what was made is an address', async () => {
  const Key = 'a b/ü?#.txt'
  const path = 'a%20b/%C3%BC%3F%23.txt'
  const { Location = '' } = await s3.send(
    new CompleteMultipartUploadCommand(await uploaded(Key, [1])),
  )
  assert.equal(Location, `${ergon.baseUrl}/${Bucket}/${path}`)
  const headers = { authorization: `Bearer ${ergon.token}` }
  assert.equal((await fetch(Location, { headers })).status, 200)
  const form = await createPresignedPost(s3, { Bucket, Key })
  const post = async (host: string, target: string, fields: Record<string, string> = {}) => {
    const data = new FormData()
    for (const [name, value] of Object.entries({ ...form.fields, ...fields }))
      data.append(name, value)
    data.append('file', new Blob(['posted']), 'name.txt')
    const encoded = new Response(data)
    const asked = request({
      host: '127.0.0.1',
      port: ergon.port,
      method: 'POST',
      path: target,
      headers: { host, 'content-type': encoded.headers.get('content-type') ?? '' },
    })
    asked.end(Buffer.from(await encoded.arrayBuffer()))
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    answer.resume()
    return [answer.statusCode, answer.headers.location]
  }
  const { host } = new URL(ergon.baseUrl)
  assert.deepEqual(await post(host, `/${Bucket}`), [204, `http://${host}/${Bucket}/${path}`])
  const own = `${Bucket}.localhost:${ergon.port}`
  assert.deepEqual(await post(own, '/'), [204, `http://${own}/${path}`])
})

test('a method that may not be called names those that may, and the service itself has a preflight', async () => {
  const refused = await fetch(`${ergon.baseUrl}/`, { method: 'PUT' })
  await assertRefusal(refused, 'MethodNotAllowed', 405)
  assert.equal(refused.headers.get('allow'), 'GET, OPTIONS')
  const patched = await ask('PATCH', 'any')
  await assertRefusal(patched, 'MethodNotAllowed', 405)
  assert.equal(patched.headers.get('allow'), 'GET, HEAD, PUT, DELETE, OPTIONS')
  const preflight = (headers: Record<string, string>) =>
    fetch(`${ergon.baseUrl}/`, { method: 'OPTIONS', headers })
  await assertRefusal(await preflight({}), 'BadRequest', 400)
  const asked = { origin: 'https://app.example', 'access-control-request-method': 'GET' }
  await assertRefusal(await preflight(asked), 'AccessForbidden', 403)
})

test('a refusal says what is not there, and what the limit is', async () => {
  const put = (path: string, body: string) =>
    fetch(`${ergon.baseUrl}/${Bucket}${path}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ergon.token}` },
      body,
    })
  const none = async (path: string, body = '') =>
    await assertRefusal(await put(path, body), 'NotImplemented', 501)
  assert.match(await none('?replication'), /PutBucketReplication is not implemented/)
  const versioning = '<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>'
  assert.match(
    await none('?versioning', `<VersioningConfiguration>${versioning}</VersioningConfiguration>`),
    /MFA delete is not implemented/,
  )
  const payment =
    '<RequestPaymentConfiguration><Payer>Requester</Payer></RequestPaymentConfiguration>'
  assert.match(await none('?requestPayment', payment), /Requester pays is not implemented/)
  const long = await ask('PUT', 'long', { 'cache-control': 'x'.repeat(9000) })
  assert.match(await assertRefusal(long, 'InvalidArgument', 400), /limit is 8192/)
})
