// Detours around the usual checks: forms, batches and names.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAbacCommand,
  GetBucketReplicationCommand,
  HeadBucketCommand,
  ListBucketInventoryConfigurationsCommand,
  ListObjectsV2Command,
  PutBucketAbacCommand,
  PutBucketLoggingCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  PutObjectLockConfigurationCommand,
  PutPublicAccessBlockCommand,
  type S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { ACCOUNT_REQUESTS, STORAGE } from '../settings.ts'
import { product } from '../product.ts'

product(STORAGE)

const Bucket = 'storage-trust'
const WAIT_MS = 60_000
const OPTIONS = { timeout: 2 * WAIT_MS }
/** Forms that are one too many, and some more. */
const OVER = 16

let ergon: Ergon
let s3: S3Client

const mintToken = async (scope: 'read' | 'deploy', account = ergon.account): Promise<string> =>
  (await ergon.control('token.create', { scope, account })).token

withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

const open = {
  BlockPublicAcls: false,
  IgnorePublicAcls: false,
  BlockPublicPolicy: false,
  RestrictPublicBuckets: false,
}
async function allow(bucket: string, statements: readonly object[]): Promise<void> {
  const PublicAccessBlockConfiguration = open
  await s3.send(new PutPublicAccessBlockCommand({ Bucket: bucket, PublicAccessBlockConfiguration }))
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: statements })
  await s3.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }))
}

async function post(
  key: string,
  fields: Readonly<Record<string, string>> = {},
  bucket = Bucket,
): Promise<Response> {
  const data = new FormData()
  for (const [name, value] of Object.entries({ key, ...fields })) data.append(name, value)
  data.append('file', new Blob(['text']), 'name.txt')
  return await fetch(`${ergon.baseUrl}/${bucket}`, { method: 'POST', body: data })
}

/** A form whose file has begun and does not end, on a connection of its own; what is answered to it. */
async function unfinished(bucket: string, fields: Readonly<Record<string, string>>) {
  const { port, hostname } = new URL(ergon.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const part = (name: string, value: string) =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}`
  const parts = [
    ...Object.entries(fields).map(([name, value]) => `${part(name, value)}\r\n`),
    part('file"; filename="f', 'the beginning'),
  ]
  socket.write(
    `POST /${bucket} HTTP/1.1\r\nHost: localhost:${port}\r\nContent-Length: 1000000\r\n` +
      `Content-Type: multipart/form-data; boundary=b\r\n\r\n${parts.join('')}`,
  )
  return { socket, answer: once(socket, 'data').then(([bytes]) => String(bytes)) }
}

test('a form that is signed by a token which may only read writes nothing', async () => {
  const reader = s3ClientOf(ergon, await mintToken('read'))
  const { fields } = await createPresignedPost(reader, { Bucket, Key: 'by a reader' })
  const answer = await post('by a reader', fields)
  assert.equal(answer.status, 403, await answer.clone().text())
  assert.match(await answer.text(), /scope .*read.*, it needs .*deploy/)
})

test('forms count toward the requests that an account may run at once', OPTIONS, async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const own = s3ClientOf(ergon, await mintToken('deploy', id))
  const bucket = 'storage-trust-forms'
  await own.send(new CreateBucketCommand({ Bucket: bucket }))
  // So the policy of the form allows every key that begins so.
  const Key = 'forms/${filename}'
  const { fields } = await createPresignedPost(own, { Bucket: bucket, Key })
  const form = (key: string) => post(key, { ...fields, key }, bucket)
  assert.equal((await form('forms/first')).status, 204)
  const held = await Promise.all(
    Array.from({ length: ACCOUNT_REQUESTS + OVER }, (_, nth) =>
      unfinished(bucket, { ...fields, key: `forms/held ${nth}` }),
    ),
  )
  // A starved machine refuses some for another reason: those are no part of the count.
  const refusals = held.map(async ({ answer }) => {
    assert.match(await answer, /^HTTP\/1.1 503 [^]*\r\nretry-after: 1\r\n[^]*<Code>SlowDown</i)
  })
  await Promise.any(refusals)
  // They count together with the account's other requests, and not with those of another account.
  const other = () => own.send(new HeadBucketCommand({ Bucket: bucket }))
  await assert.rejects(other, (error: S3ServiceException) => error.$metadata.httpStatusCode === 503)
  await s3.send(new HeadBucketCommand({ Bucket }))
  for (const { socket } of held) socket.destroy()
  for (const deadline = performance.now() + WAIT_MS; ; await pause(50)) {
    const isThrough = await other().then(
      () => true,
      () => false,
    )
    if (isThrough) break
    assert.ok(performance.now() < deadline, 'forms that are gone still count')
  }
  const { Contents = [] } = await own.send(new ListObjectsV2Command({ Bucket: bucket }))
  assert.deepEqual(
    Contents.map(({ Key: key }) => key),
    ['forms/first'],
  )
})

test('a form makes no object that nobody could name', async () => {
  const Resource = `arn:aws:s3:::${Bucket}/*`
  await allow(Bucket, [{ Effect: 'Allow', Principal: '*', Action: 's3:PutObject', Resource }])
  assert.equal((await post('named')).status, 204)
  const long = await post('x'.repeat(1025))
  assert.equal(long.status, 400)
  assert.match(await long.text(), /KeyTooLongError/)
  const nul = await post('a\0b')
  assert.equal(nul.status, 400)
  assert.match(await nul.text(), /InvalidArgument/)
})

test('retention is bypassed key by key, in a batch as alone', async () => {
  const locked = 'storage-trust-locked'
  await s3.send(new CreateBucketCommand({ Bucket: locked, ObjectLockEnabledForBucket: true }))
  const Rule = { DefaultRetention: { Mode: 'GOVERNANCE', Days: 1 } } as const
  const ObjectLockConfiguration = { ObjectLockEnabled: 'Enabled', Rule } as const
  await s3.send(new PutObjectLockConfigurationCommand({ Bucket: locked, ObjectLockConfiguration }))
  const put = async (Key: string) => {
    const { VersionId } = await s3.send(new PutObjectCommand({ Bucket: locked, Key, Body: 'x' }))
    return { Key, VersionId }
  }
  const [kept, free] = [await put('kept/1'), await put('free/1')]
  const Resource = `arn:aws:s3:::${locked}/kept/*`
  const Action = 's3:BypassGovernanceRetention'
  await allow(locked, [{ Effect: 'Deny', Principal: '*', Action, Resource }])
  const bypass = { Bucket: locked, BypassGovernanceRetention: true }
  await assert.rejects(s3.send(new DeleteObjectCommand({ ...bypass, ...kept })))
  const Delete = { Objects: [kept, free] }
  const { Deleted, Errors } = await s3.send(new DeleteObjectsCommand({ ...bypass, Delete }))
  assert.deepEqual(
    [Deleted?.map(({ Key }) => Key), Errors?.map(({ Key, Code }) => [Key, Code])],
    [['free/1'], [['kept/1', 'AccessDenied']]],
  )
})

test('a right to set the log of one bucket is no right to write into another', async () => {
  const logs = 'storage-trust-logs'
  await s3.send(new CreateBucketCommand({ Bucket: logs }))
  const { id } = await ergon.control('account.create', { env: 'test' })
  const Principal = { AWS: id }
  const Resource = `arn:aws:s3:::${Bucket}`
  await allow(Bucket, [{ Effect: 'Allow', Principal, Action: 's3:PutBucketLogging', Resource }])
  const stranger = s3ClientOf(ergon, await mintToken('deploy', id))
  const LoggingEnabled = { TargetBucket: logs, TargetPrefix: 'p/' }
  const command = () =>
    new PutBucketLoggingCommand({ Bucket, BucketLoggingStatus: { LoggingEnabled } })
  await assert.rejects(stranger.send(command()), { name: 'AccessDenied' })
  await s3.send(command())
})

test('a name with NUL is refused wherever it stands', async () => {
  const authorization = `Bearer ${ergon.token}`
  const ask = (method: string, path: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(ergon.baseUrl + path, { method, headers: { authorization, ...headers } })
  const answers = await Promise.all([
    ask('GET', '/a%00b/'),
    ask('PUT', `/${Bucket}/k`, { 'x-amz-copy-source': '/a%00b/k' }),
    ask('GET', `/${Bucket}/k?versionId=%00`),
    ask('DELETE', `/${Bucket}/k?versionId=%00`),
    ask('GET', `/${Bucket}/k?uploadId=%00`),
    ask('DELETE', `/${Bucket}/k?uploadId=%00`),
    ask('GET', `/${Bucket}?uploads&key-marker=a&upload-id-marker=%00`),
    ask('GET', '/?bucket-region=%00'),
  ])
  for (const answer of answers) assert.equal(answer.status, 400, answer.url)
  const lone = await fetch(`${ergon.baseUrl}/v1/storage/presigned`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ bucket: Bucket, key: '\ud800' }),
  })
  assert.equal(lone.status, 400)
})

/** The account charged for an answer, once its charge is in the ledger. */
async function payerOf(answer: Response): Promise<unknown> {
  await answer.arrayBuffer()
  for (const deadline = performance.now() + WAIT_MS; ; await pause(50)) {
    const [row] = await ergon.sql('select account from charges where id = $1', [
      answer.headers.get('x-receipt-id'),
    ])
    if (row !== undefined) return row['account']
    assert.ok(performance.now() < deadline, 'there is no charge')
  }
}

test('a batch deletion is paid by who asks by name, else by the owner where everybody may delete some keys', async () => {
  const shared = 'storage-trust-shared'
  await s3.send(new CreateBucketCommand({ Bucket: shared }))
  const Resource = `arn:aws:s3:::${shared}/open/*`
  await allow(shared, [{ Effect: 'Allow', Principal: '*', Action: 's3:DeleteObject', Resource }])
  const { id } = await ergon.control('account.create', { env: 'test' })
  const token = await mintToken('deploy', id)
  const put = (Key: string) => s3.send(new PutObjectCommand({ Bucket: shared, Key, Body: 'x' }))
  const keys = ['open/1', 'open/2', 'kept']
  const removal = (some: readonly string[], headers: Readonly<Record<string, string>> = {}) => {
    const objects = some.map((key) => `<Object><Key>${key}</Key></Object>`).join('')
    const body = `<Delete>${objects}</Delete>`
    return fetch(`${ergon.baseUrl}/${shared}?delete`, { method: 'POST', headers, body })
  }
  const left = async () => {
    const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: shared }))
    return Contents.map(({ Key }) => Key)
  }
  for (const key of keys) await put(key)

  // Nobody by name, and none of those that he may delete: a thousand keys are judged for him all the same.
  const refused = await removal(['kept'])
  assert.match(await refused.clone().text(), /<Error><Key>kept<\/Key><Code>AccessDenied</)
  assert.equal(await payerOf(refused), ergon.account)
  const stranger = await removal(['open/1', 'kept'], { authorization: `Bearer ${token}` })
  assert.equal(await payerOf(stranger), id)
  assert.deepEqual(await left(), ['kept', 'open/2'])
  const nobody = await removal(['open/2', 'kept'])
  assert.equal(await payerOf(nobody), ergon.account)
  assert.deepEqual(await left(), ['kept'])

  // Where nobody could, nothing is read, and neither he nor the owner pays for the refusal.
  await allow(shared, [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource }])
  const shut = await removal(['open/1'])
  assert.equal(shut.status, 403)
  assert.equal(await payerOf(shut), 'nobody')
})

test('a configuration that no bucket ever has is denied of a bucket that exists, to callers who may ask', async () => {
  const { id } = await ergon.control('account.create', { env: 'test' })
  const stranger = s3ClientOf(ergon, await mintToken('deploy', id))
  const reads = (name: string) => [
    new ListBucketInventoryConfigurationsCommand({ Bucket: name }),
    new GetBucketReplicationCommand({ Bucket: name }),
    new GetBucketAbacCommand({ Bucket: name }),
  ]
  const answers = async (client: S3Client, name: string) =>
    await Promise.all(
      reads(name).map((command) =>
        client.send(command as GetBucketAbacCommand).then(
          ({ AbacStatus }) => AbacStatus?.Status ?? 'none',
          (error: S3ServiceException) => error.name,
        ),
      ),
    )
  const none = ['none', 'ReplicationConfigurationNotFoundError', 'Disabled']
  assert.deepEqual(await answers(s3, Bucket), none)
  assert.deepEqual(await answers(stranger, Bucket), none.fill('AccessDenied'))
  assert.deepEqual(await answers(s3, 'storage-trust-none'), none.fill('NoSuchBucket'))
  const abac = (Status: 'Enabled' | 'Disabled') =>
    s3.send(new PutBucketAbacCommand({ Bucket, AbacStatus: { Status } }))
  await abac('Disabled')
  await assert.rejects(abac('Enabled'), { name: 'NotImplemented' })
})
