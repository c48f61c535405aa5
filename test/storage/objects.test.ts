// Object storage as its clients use it: the AWS SDK with buffers, streams, multipart, presigned addresses
// and forms. Every answer says what it cost, and every charge is in the ledger.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketCorsCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type S3Client,
  type StorageClass,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { sendRaw } from '../raw-http.ts'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'storage-part'
const MIB = 1_048_576

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

const put = (Key: string, Body: string | Buffer) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body }))

async function bytesOf(Key: string, Range?: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }))
  assert.ok(Body)
  return Buffer.from(await Body.transformToByteArray())
}

test('bodies of every size come back, whole and in ranges', async () => {
  for (const size of [0, 1, 32 * 1024, 32 * 1024 + 1, 3 * MIB]) {
    const body = randomBytes(size)
    const { ETag } = await put(`size-${size}`, body)
    assert.equal(ETag, `"${createHash('md5').update(body).digest('hex')}"`)
    assert.ok((await bytesOf(`size-${size}`)).equals(body))
  }
  const large = await bytesOf(`size-${3 * MIB}`)
  const part = await bytesOf(`size-${3 * MIB}`, 'bytes=1000000-2000000')
  assert.ok(part.equals(large.subarray(1_000_000, 2_000_001)))
})

test('bodies that many read at once, fast and slowly, are each its own', async () => {
  // Readers share the buffers that files are read into; more than a socket takes waits in them.
  const bodies = Array.from({ length: 4 }, (_, nth) => Buffer.alloc(12 * MIB, `body ${nth} `))
  await Promise.all(bodies.map((body, nth) => put(`shared-${nth}`, body)))
  const readers = Array.from({ length: 8 }, async (_, nth) => {
    const body = bodies[nth % bodies.length] ?? Buffer.alloc(0)
    const { Body } = await s3.send(
      new GetObjectCommand({ Bucket, Key: `shared-${nth % bodies.length}` }),
    )
    let at = 0
    for await (const chunk of Body as AsyncIterable<Buffer>) {
      assert.ok(chunk.equals(body.subarray(at, (at += chunk.length))), `reader ${nth} before ${at}`)
      if (nth % 3 === 0) await pause(5)
    }
    assert.equal(at, body.length)
  })
  await Promise.all(readers)
})

test('keys that are no paths are what they are', async () => {
  const keys = [
    'a/../b',
    '//',
    'a//b',
    '.',
    'ü/日本/🎈',
    'a b+c%20d',
    '%2e%2e/',
    `${'k'.repeat(1024)}`,
  ]
  for (const key of keys) await put(key, key)
  for (const key of keys) assert.equal((await bytesOf(key)).toString(), key)
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket }))
  const listed = new Set(Contents.map(({ Key }) => Key))
  assert.deepEqual(
    keys.filter((key) => !listed.has(key)),
    [],
  )
  await assert.rejects(put('k'.repeat(1025), ''), { name: 'KeyTooLongError' })
})

test('a stream and an upload in parts are one object each', async () => {
  const body = randomBytes(6 * MIB)
  const upload = new Upload({
    client: s3,
    params: {
      Bucket,
      Key: 'parts',
      Body: Readable.from([body.subarray(0, 100), body.subarray(100)]),
    },
    partSize: 5 * MIB,
  })
  const { ETag } = await upload.done()
  assert.match(ETag ?? '', /^"[0-9a-f]{32}-2"$/)
  assert.ok((await bytesOf('parts')).equals(body))
  const copied = await s3.send(
    new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/parts` }),
  )
  assert.ok(copied.CopyObjectResult?.ETag)
  await s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects: [{ Key: 'parts' }] } }))
  assert.ok((await bytesOf('copy')).equals(body), 'a copy outlives its source')
})

test('versions stay until they are deleted by name', async () => {
  const versioned = 'storage-part-versions'
  await s3.send(new CreateBucketCommand({ Bucket: versioned }))
  await s3.send(
    new PutBucketVersioningCommand({
      Bucket: versioned,
      VersioningConfiguration: { Status: 'Enabled' },
    }),
  )
  for (const Body of ['one', 'two'])
    await s3.send(new PutObjectCommand({ Bucket: versioned, Key: 'key', Body }))
  const { Versions = [] } = await s3.send(new ListObjectVersionsCommand({ Bucket: versioned }))
  assert.equal(Versions.length, 2)
  await assert.rejects(s3.send(new DeleteBucketCommand({ Bucket: versioned })), {
    name: 'BucketNotEmpty',
  })
  const Objects = Versions.map(({ Key, VersionId }) => ({ Key, VersionId }))
  await s3.send(new DeleteObjectsCommand({ Bucket: versioned, Delete: { Objects } }))
  await s3.send(new DeleteBucketCommand({ Bucket: versioned }))
})

test('classes that are read at once keep their names, all others are refused', async () => {
  const stored = (Key: string, StorageClass: StorageClass) =>
    s3.send(new PutObjectCommand({ Bucket, Key, Body: 'text', StorageClass }))
  await stored('class/a', 'STANDARD_IA')
  await stored('class/b', 'STANDARD')
  const head = async (Key: string) =>
    (await s3.send(new HeadObjectCommand({ Bucket, Key }))).StorageClass
  assert.deepEqual([await head('class/a'), await head('class/b')], ['STANDARD_IA', undefined])
  const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'class/' }))
  assert.deepEqual(
    Contents.map((entry) => entry.StorageClass),
    ['STANDARD_IA', 'STANDARD'],
  )
  const CopySource = `${Bucket}/class/a`
  await assert.rejects(s3.send(new CopyObjectCommand({ Bucket, Key: 'class/a', CopySource })), {
    name: 'InvalidRequest',
  })
  await s3.send(
    new CopyObjectCommand({ Bucket, Key: 'class/a', CopySource, StorageClass: 'GLACIER_IR' }),
  )
  assert.equal(await head('class/a'), 'GLACIER_IR')
  for (const name of ['GLACIER', 'DEEP_ARCHIVE', 'CHEAP'] as StorageClass[])
    await assert.rejects(stored('class/c', name), { name: 'InvalidStorageClass' })
})

test('a write under a condition happens once', async () => {
  const attempts = Array.from({ length: 5 }, (_, index) =>
    s3.send(new PutObjectCommand({ Bucket, Key: 'once', Body: String(index), IfNoneMatch: '*' })),
  )
  const outcomes = await Promise.allSettled(attempts)
  assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') assert.equal(outcome.reason.name, 'PreconditionFailed')
})

test('a write whose condition does not hold leaves no body, however it is sent', async () => {
  const body = randomBytes(MIB)
  await put('kept', body)
  const files = () => readdirSync(join(ergon.dataFolder, 'blobs'), { recursive: true }).length
  const before = files()
  for (let n = 0; n < 8; n++) {
    const again = new PutObjectCommand({ Bucket, Key: 'kept', Body: body, IfNoneMatch: '*' })
    await assert.rejects(s3.send(again), { name: 'PreconditionFailed' })
  }
  assert.equal(files(), before)

  const head = (more: string) =>
    `PUT /${Bucket}/kept HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${ergon.token}\r\n` +
    `if-none-match: *\r\n${more}\r\n\r\n`
  const waits = await sendRaw(ergon.port, head(`content-length: ${MIB}\r\nexpect: 100-continue`))
  assert.deepEqual([waits.interim, waits.responses[0]?.status], [[], 412])
  // It hears the answer although it sends on.
  const sends = await sendRaw(ergon.port, head(`content-length: ${8 * MIB}`), {
    then(socket) {
      for (let piece = 0; piece < 8; piece++) socket.write(body)
    },
  })
  assert.equal(sends.responses[0]?.status, 412)
  assert.match(sends.responses[0].body, /<Code>PreconditionFailed<\/Code>/)
  assert.equal(files(), before)
})

test('presigned addresses and forms do what they were signed for and nothing else', async () => {
  await put('shared', 'shared text')
  const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'shared' }))
  assert.equal(await (await fetch(url)).text(), 'shared text')
  const other = await fetch(url.replace('shared?', 'once?'))
  assert.equal(other.status, 403)
  assert.match(await other.text(), /<Code>SignatureDoesNotMatch<\/Code>/)

  const form = await createPresignedPost(s3, {
    Bucket,
    Key: 'posted',
    Conditions: [['content-length-range', 1, 100]],
  })
  const post = async (text: string): Promise<Response> => {
    const data = new FormData()
    for (const [name, value] of Object.entries(form.fields)) data.append(name, value)
    data.append('file', new Blob([text]), 'name.txt')
    return await fetch(form.url, { method: 'POST', body: data })
  }
  assert.equal((await post('from a form')).status, 204)
  assert.equal((await bytesOf('posted')).toString(), 'from a form')
  assert.equal((await post('x'.repeat(101))).status, 400)
})

test('strangers see what a policy shows, and its owner pays for that', async () => {
  await put('public/page', 'for everyone')
  const page = `${ergon.baseUrl}/${Bucket}/public/page`
  assert.equal((await fetch(page)).status, 403)
  const Policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObject',
      Resource: `arn:aws:s3:::${Bucket}/public/*`,
    },
  })
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  const answer = await fetch(page)
  assert.equal(await answer.text(), 'for everyone')
  assert.equal(await payerOf(answer), ergon.account)
  assert.equal((await fetch(`${ergon.baseUrl}/${Bucket}/shared`)).status, 403)
})

test('no page of the service can be made of what somebody stored', async () => {
  const Metadata = { 'set-cookie': 'ergon_session=stolen' }
  const page = '<script>alert(1)</script>'
  const ContentType = 'text/html'
  await s3.send(
    new PutObjectCommand({ Bucket, Key: 'public/x.html', Body: page, ContentType, Metadata }),
  )
  const headers = { cookie: 'ergon_session=of-somebody; other=1', authorization: '' }
  const asked = [
    `/${Bucket}/public/x.html`,
    `/${Bucket}/public/x.html?response-content-type=text%2Fhtml`,
    `/${Bucket}/shared`,
    `/${Bucket}?list-type=2`,
    '/v1/models',
  ]
  for (const path of asked)
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(ergon.baseUrl + path, { method, headers })
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', path)
      assert.equal(answer.headers.get('set-cookie'), null, path)
      assert.ok(![...answer.headers.values()].some((value) => value.includes('of-somebody')))
    }
  const answer = await fetch(`${ergon.baseUrl}/${Bucket}/public/x.html`, { headers })
  assert.equal(answer.headers.get('content-type'), 'text/html')
  assert.equal(answer.headers.get('content-security-policy'), 'sandbox')
  assert.equal(await answer.text(), page)
})

test('scripts of an allowed origin may read what their request cost', async () => {
  const rule = { AllowedOrigins: ['https://app.example'], AllowedMethods: ['GET'] }
  await s3.send(new PutBucketCorsCommand({ Bucket, CORSConfiguration: { CORSRules: [rule] } }))
  const page = `${ergon.baseUrl}/${Bucket}/public/page`
  const origin = { origin: 'https://app.example' }
  const preflight = await fetch(page, {
    method: 'OPTIONS',
    headers: { ...origin, 'access-control-request-method': 'GET' },
  })
  assert.equal(preflight.status, 200)
  const { headers } = await fetch(page, { headers: origin })
  assert.equal(headers.get('access-control-allow-origin'), 'https://app.example')
  assert.match(headers.get('access-control-expose-headers') ?? '', /X-Energy-Joules/)
})

test('another account and a wrong secret are refused, and a read token may not write', async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const mint = async (scope: 'read' | 'deploy', account?: string) =>
    (await ergon.control('token.create', { scope, account })).token
  const stranger = s3ClientOf(ergon, await mint('deploy', id))
  await assert.rejects(stranger.send(new ListObjectsV2Command({ Bucket })), {
    name: 'AccessDenied',
  })
  const another = { Bucket, Key: 'size-1', ExpectedBucketOwner: id }
  await assert.rejects(s3.send(new GetObjectCommand(another)), { name: 'AccessDenied' })
  await assert.rejects(stranger.send(new CreateBucketCommand({ Bucket })), {
    name: 'BucketAlreadyExists',
  })
  const reader = s3ClientOf(ergon, await mint('read'))
  await reader.send(new HeadObjectCommand({ Bucket, Key: 'shared' }))
  await assert.rejects(reader.send(new PutObjectCommand({ Bucket, Key: 'shared', Body: 'no' })), {
    name: 'AccessDenied',
  })
  const forged = s3ClientOf(ergon, ergon.token, 'not the token')
  await assert.rejects(forged.send(new ListObjectsV2Command({ Bucket })), {
    name: 'SignatureDoesNotMatch',
  })
})

test('each answer bears its energy, and its charge is in the ledger', async () => {
  const url = await getSignedUrl(s3, new GetObjectCommand({ Bucket, Key: 'shared' }))
  const answer = await fetch(url)
  assert.ok(Number(answer.headers.get('x-energy-joules')) > 0)
  assert.equal(await payerOf(answer), ergon.account)
  const last = await fetch(`${ergon.baseUrl}/v1/usage/last`, {
    headers: { authorization: `Bearer ${ergon.token}` },
  })
  const told = (await last.json()) as Record<string, unknown>
  assert.deepEqual(
    [told['receipt_id'], told['operation'], told['model']],
    [answer.headers.get('x-receipt-id'), 'storage.get-object', null],
  )
})

/** The account that the ledger charged for an answer. */
async function payerOf({ headers }: Response): Promise<unknown> {
  const receipt = headers.get('x-receipt-id')
  for (let tries = 600; tries > 0; tries--) {
    const [row] = await ergon.sql('select account, operation from charges where id = $1', [receipt])
    if (row?.['operation'] === 'storage.get-object') return row['account']
    await pause(100)
  }
  return assert.fail(`no charge of ${receipt}`)
}
