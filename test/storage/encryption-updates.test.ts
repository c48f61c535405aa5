// Another key for objects that are there: nothing of them moves, and they are read as before.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  GetObjectAnnotationCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectAnnotationCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectRetentionCommand,
  UpdateObjectEncryptionCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { Upload } from '@aws-sdk/lib-storage'
import type { Ergon } from '../start-ergon.ts'
import { NOWHERE, withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'encryption-updates-part'
const MIB = 1_048_576

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket, ObjectLockEnabledForBucket: true })

const put = (Key: string, Body: Buffer, more: Partial<PutObjectCommandInput> = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body, ServerSideEncryption: 'AES256', ...more }))

const update = (Key: string, KMSKeyArn: string, VersionId?: string) =>
  s3.send(
    new UpdateObjectEncryptionCommand({
      Bucket,
      Key,
      VersionId,
      ObjectEncryption: { SSEKMS: { KMSKeyArn } },
    }),
  )

async function bytesOf(Key: string, VersionId?: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, VersionId }))
  return Buffer.from((await Body?.transformToByteArray()) ?? [])
}

const isRefusal = (name: string, status: number) => (error: unknown) => {
  assert.ok(error instanceof Error && '$metadata' in error, String(error))
  const { httpStatusCode } = error.$metadata as { httpStatusCode: number }
  assert.deepEqual([error.name, httpStatusCode], [name, status])
  return true
}

/** The bytes that are kept of an object, by their sums. */
async function keptOf(Key: string): Promise<unknown> {
  const [row] = await ergon.sql(
    `select md5(v.inline) as inline, (select json_agg(p ->> 'blob') from jsonb_array_elements(v.parts) p) as blobs
     from object_versions v join buckets b on b.id = v.bucket where b.name = $1 and v.key = $2`,
    [Bucket, Key],
  )
  return row
}

test('an encrypted object gets a named key, and another one; nothing else of it changes', async () => {
  const bodies = new Map([
    ['small', randomBytes(100)],
    ['empty', Buffer.alloc(0)],
    ['large', randomBytes(300_000)],
    ['parts', randomBytes(6 * MIB)],
  ])
  for (const [key, body] of bodies) {
    if (key !== 'parts') await put(key, body)
    else
      await new Upload({
        client: s3,
        params: { Bucket, Key: key, Body: body, ServerSideEncryption: 'AES256' },
        partSize: 5 * MIB,
      }).done()
    const annotation = { Bucket, Key: key, AnnotationName: 'n' }
    await s3.send(
      new PutObjectAnnotationCommand({ ...annotation, AnnotationPayload: Buffer.from(key) }),
    )
    const head = () => s3.send(new HeadObjectCommand({ Bucket, Key: key }))
    const was = await head()
    const kept = await keptOf(key)
    for (const name of ['customers', 'arn:aws:kms:local:123456789012:key/invoices']) {
      await update(key, name)
      const now = await head()
      assert.equal(now.ServerSideEncryption, 'aws:kms', key)
      assert.equal(now.SSEKMSKeyId, name.split('/').at(-1), key)
      assert.deepEqual(
        [now.ETag, now.LastModified, now.VersionId, now.ContentLength],
        [was.ETag, was.LastModified, was.VersionId, was.ContentLength],
      )
      assert.ok((await bytesOf(key)).equals(body), key)
      const found = await s3.send(new GetObjectAnnotationCommand(annotation))
      assert.equal(await found.AnnotationPayload?.transformToString(), key)
      assert.equal(found.ServerSideEncryption, 'aws:kms')
    }
    assert.deepEqual(await keptOf(key), kept, `${key}: the same bytes`)
  }
})

test('a version is named; the others keep their key', async () => {
  const first = await put('versions', Buffer.from('one'))
  await put('versions', Buffer.from('two'))
  await update('versions', 'customers', first.VersionId)
  const kinds = [first.VersionId, undefined].map(async (VersionId) => {
    const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'versions', VersionId }))
    return head.ServerSideEncryption
  })
  assert.deepEqual(await Promise.all(kinds), ['aws:kms', 'AES256'])
  assert.equal((await bytesOf('versions', first.VersionId)).toString(), 'one')
})

test('an object that cannot have another key is refused, and stays as it is', async () => {
  const key = randomBytes(32)
  const customer = {
    ServerSideEncryption: undefined,
    SSECustomerAlgorithm: 'AES256',
    SSECustomerKey: key.toString('base64'),
    SSECustomerKeyMD5: createHash('md5').update(key).digest('base64'),
  }
  await put('plain', Buffer.from('a'), { ServerSideEncryption: undefined })
  await put('customer', Buffer.from('a'), customer)
  await put('known', Buffer.from('a'))
  const refused = (name: string, status: number, work: Promise<unknown>) =>
    assert.rejects(work, isRefusal(name, status))
  await refused('InvalidRequest', 400, update('plain', 'customers'))
  await refused('InvalidRequest', 400, update('customer', 'customers'))
  await refused('NoSuchKey', 404, update('absent', 'customers'))
  await refused('NoSuchVersion', 404, update('known', 'customers', NOWHERE))
  await refused('KMS.NotFoundException', 400, update('known', 'nobody'))
  await refused('InvalidRequest', 400, update('known', ''))
  const raw = async (body: string) => {
    const answer = await fetch(`${ergon.baseUrl}/${Bucket}/known?encryption`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ergon.token}` },
      body,
    })
    return [answer.status, /<Code>(\w+)</.exec(await answer.text())?.[1]]
  }
  const of = (inner: string) => `<ObjectEncryption>${inner}</ObjectEncryption>`
  assert.deepEqual(await raw(of('<SSE-S3/>')), [400, 'InvalidRequest'])
  assert.deepEqual(await raw(of('')), [400, 'InvalidRequest'])
  assert.deepEqual(await raw('<ObjectEncryption>'), [400, 'MalformedXML'])
  const keyed = '<KMSKeyArn>customers</KMSKeyArn><BucketKeyEnabled>maybe</BucketKeyEnabled>'
  assert.deepEqual(await raw(of(`<SSE-KMS>${keyed}</SSE-KMS>`)), [400, 'MalformedXML'])
  const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'known' }))
  assert.equal(head.ServerSideEncryption, 'AES256')
})

test('object lock keeps the key, too', async () => {
  await put('locked', Buffer.from('a'))
  const place = { Bucket, Key: 'locked' }
  const hold = (Status: 'ON' | 'OFF') =>
    s3.send(new PutObjectLegalHoldCommand({ ...place, LegalHold: { Status } }))
  await hold('ON')
  await assert.rejects(update('locked', 'customers'), isRefusal('AccessDenied', 403))
  await hold('OFF')
  await update('locked', 'customers')
  const RetainUntilDate = new Date(Date.now() + 3_600_000)
  await s3.send(
    new PutObjectRetentionCommand({ ...place, Retention: { Mode: 'GOVERNANCE', RetainUntilDate } }),
  )
  await assert.rejects(update('locked', 'invoices'), isRefusal('AccessDenied', 403))
  const head = await s3.send(new HeadObjectCommand(place))
  assert.equal(head.SSEKMSKeyId, 'customers')
})
