// Annotations and a change of encryption, as the AWS SDK asks for them.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import {
  CopyObjectCommand,
  DeleteObjectAnnotationCommand,
  DeleteObjectCommand,
  GetObjectAnnotationCommand,
  ListObjectAnnotationsCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectAnnotationCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { NOWHERE, withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'annotation-part'
const MIB = 1_048_576

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

const put = (Key: string, more: Partial<PutObjectCommandInput> = {}) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body: 'body', ...more }))

const annotate = (Key: string, AnnotationName: string, text: string | Buffer, more: object = {}) =>
  s3.send(
    new PutObjectAnnotationCommand({
      Bucket,
      Key,
      AnnotationName,
      AnnotationPayload: Buffer.from(text),
      ...more,
    }),
  )

async function textOf(Key: string, AnnotationName: string, VersionId?: string): Promise<string> {
  const found = await s3.send(
    new GetObjectAnnotationCommand({ Bucket, Key, AnnotationName, VersionId }),
  )
  return (await found.AnnotationPayload?.transformToString()) ?? ''
}

async function namesOf(Key: string, more: object = {}): Promise<(string | undefined)[]> {
  const found = await s3.send(new ListObjectAnnotationsCommand({ Bucket, Key, ...more }))
  return (found.Annotations ?? []).map(({ AnnotationName }) => AnnotationName)
}

const isRefusal = (name: string, status: number) => (error: unknown) => {
  assert.ok(error instanceof Error && '$metadata' in error, String(error))
  const { httpStatusCode } = error.$metadata as { httpStatusCode: number }
  assert.deepEqual([error.name, httpStatusCode], [name, status])
  return true
}

async function storedBytes(): Promise<number> {
  const [row] = await ergon.sql<{ bytes: string }>(
    `select coalesce(sum(u.bytes), 0) as bytes from bucket_usage u join buckets b on b.id = u.bucket
     where b.name = $1`,
    [Bucket],
  )
  return Number(row?.bytes)
}

test('annotations of every size come back with what they are', async () => {
  await put('plain')
  const before = await storedBytes()
  for (const text of ['a', 'Grüße, 日本 🌍 '.repeat(5000), 'x'.repeat(MIB)]) {
    const md5 = createHash('md5').update(text).digest('hex')
    const made = await annotate('plain', 'labels/v1 ä', text)
    assert.deepEqual(
      [made.Key, made.AnnotationName, made.ETag, made.ServerSideEncryption],
      ['plain', 'labels/v1 ä', `"${md5}"`, 'AES256'],
    )
    const found = await s3.send(
      new GetObjectAnnotationCommand({
        Bucket,
        Key: 'plain',
        AnnotationName: 'labels/v1 ä',
        ChecksumMode: 'ENABLED',
      }),
    )
    assert.equal(await found.AnnotationPayload?.transformToString(), text)
    assert.deepEqual([found.ETag, found.ContentLength], [`"${md5}"`, Buffer.byteLength(text)])
    assert.ok(found.ChecksumCRC32, 'the sum that the SDK sent')
    assert.equal((await storedBytes()) - before, Buffer.byteLength(`labels/v1 ä${text}`))
  }
  const [entry] =
    (await s3.send(new ListObjectAnnotationsCommand({ Bucket, Key: 'plain' }))).Annotations ?? []
  assert.deepEqual([entry?.Size, entry?.ChecksumAlgorithm], [MIB, ['CRC32']])
  assert.ok(entry?.LastModified instanceof Date)
  const [kept] = await ergon.sql<{ clear: boolean }>(
    "select bool_or(position('xxxxxxxx'::bytea in body) > 0) as clear from object_annotations",
  )
  assert.equal(kept?.clear, false, 'they are encrypted where they are')
  await s3.send(
    new DeleteObjectAnnotationCommand({ Bucket, Key: 'plain', AnnotationName: 'labels/v1 ä' }),
  )
  await assert.rejects(textOf('plain', 'labels/v1 ä'), isRefusal('NoSuchAnnotation', 404))
  assert.equal(await storedBytes(), before)
})

test('a list has pages, a prefix, and the order of bytes', async () => {
  await put('listed')
  const names = ['b', 'a/1', 'a/2', 'Z', 'é']
  for (const name of names) await annotate('listed', name, name)
  assert.deepEqual(await namesOf('listed'), ['Z', 'a/1', 'a/2', 'b', 'é'])
  assert.deepEqual(await namesOf('listed', { AnnotationPrefix: 'a/' }), ['a/1', 'a/2'])
  const paged: (string | undefined)[] = []
  let ContinuationToken: string | undefined
  do {
    const page = await s3.send(
      new ListObjectAnnotationsCommand({
        Bucket,
        Key: 'listed',
        MaxAnnotationResults: 2,
        ContinuationToken,
      }),
    )
    assert.equal(page.AnnotationCount, page.Annotations?.length)
    paged.push(...(page.Annotations ?? []).map(({ AnnotationName }) => AnnotationName))
    ContinuationToken = page.NextContinuationToken
  } while (ContinuationToken !== undefined)
  assert.deepEqual(paged, ['Z', 'a/1', 'a/2', 'b', 'é'])
})

test('a body that is no annotation is refused, and nothing changes', async () => {
  const { ETag } = await put('refused')
  const refused = (name: string, status: number, work: Promise<unknown>) =>
    assert.rejects(work, isRefusal(name, status))
  await refused('InvalidAnnotationName', 400, annotate('refused', 'AWSx', 'a'))
  await refused('InvalidAnnotationName', 400, annotate('refused', 's3', 'a'))
  await refused('InvalidAnnotationName', 400, annotate('refused', 'a\nb', 'a'))
  await refused('AnnotationNameTooLong', 400, annotate('refused', 'é'.repeat(257), 'a'))
  await refused('EntityTooSmall', 400, annotate('refused', 'n', ''))
  await refused('EntityTooLarge', 400, annotate('refused', 'n', 'x'.repeat(MIB + 1)))
  await refused('UnsupportedMediaType', 415, annotate('refused', 'n', Buffer.from([0xc3, 0x28])))
  await refused('NoSuchKey', 404, annotate('absent', 'n', 'a'))
  await refused('NoSuchVersion', 404, annotate('refused', 'n', 'a', { VersionId: NOWHERE }))
  const another = { ObjectIfMatch: '"another"' }
  await refused('PreconditionFailed', 412, annotate('refused', 'n', 'a', another))
  assert.deepEqual(await namesOf('refused'), [])
  await annotate('refused', 'é'.repeat(256), 'a', { ObjectIfMatch: ETag })
  assert.equal((await namesOf('refused')).length, 1)
})

test('annotations are of one version; a copy has them unless it says EXCLUDE', async () => {
  await s3.send(
    new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }),
  )
  const sealed = { ServerSideEncryption: 'aws:kms', SSEKMSKeyId: 'customers' } as const
  const first = await put('versioned', sealed)
  const made = await annotate('versioned', 'n', 'of the first')
  assert.deepEqual([made.ServerSideEncryption, made.ObjectVersionId], ['aws:kms', first.VersionId])
  const second = await put('versioned')
  await annotate('versioned', 'n', 'of the second')
  const { VersionId } = first
  assert.equal(await textOf('versioned', 'n', VersionId), 'of the first')
  assert.equal(await textOf('versioned', 'n'), 'of the second')
  const copy = (Key: string, more: object = {}) =>
    s3.send(
      new CopyObjectCommand({
        Bucket,
        Key,
        CopySource: `${Bucket}/versioned?versionId=${VersionId}`,
        ...more,
      }),
    )
  await copy('copied', { ServerSideEncryption: 'AES256' })
  await copy('in-the-clear')
  await copy('bare', { AnnotationDirective: 'EXCLUDE' })
  assert.equal(await textOf('copied', 'n'), 'of the first')
  assert.equal(await textOf('in-the-clear', 'n'), 'of the first')
  assert.deepEqual(await namesOf('bare'), [])
  await assert.rejects(
    copy('x', { AnnotationDirective: 'MOVE' }),
    isRefusal('InvalidArgument', 400),
  )
  await annotate('copied', 'n', 'its own')
  assert.equal(await textOf('versioned', 'n', VersionId), 'of the first')
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'versioned', VersionId: second.VersionId }))
  assert.equal(await textOf('versioned', 'n'), 'of the first')
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'versioned' }))
  await assert.rejects(textOf('versioned', 'n'), isRefusal('NoSuchKey', 404))
  assert.equal(await textOf('versioned', 'n', VersionId), 'of the first')
})

test('an object under a key of the client has no annotations', async () => {
  const key = randomBytes(32)
  const customer = {
    SSECustomerAlgorithm: 'AES256',
    SSECustomerKey: key.toString('base64'),
    SSECustomerKeyMD5: createHash('md5').update(key).digest('base64'),
  }
  await put('customer', customer)
  await assert.rejects(annotate('customer', 'n', 'a'), isRefusal('InvalidRequest', 400))
  await put('source')
  await annotate('source', 'n', 'a')
  const copy = (AnnotationDirective: 'COPY' | 'EXCLUDE') =>
    s3.send(
      new CopyObjectCommand({
        Bucket,
        Key: 'customer',
        CopySource: `${Bucket}/source`,
        AnnotationDirective,
        ...customer,
      }),
    )
  await assert.rejects(copy('COPY'), isRefusal('InvalidRequest', 400))
  await copy('EXCLUDE')
})

test('a policy allows annotations by their own actions', async () => {
  await put('public')
  await annotate('public', 'n', 'for all')
  const read = () => fetch(`${ergon.baseUrl}/${Bucket}/public?annotation&annotationName=n`)
  assert.equal((await read()).status, 403)
  const Statement = [
    {
      Effect: 'Allow',
      Principal: '*',
      Action: 's3:GetObjectAnnotation',
      Resource: `arn:aws:s3:::${Bucket}/public`,
    },
  ]
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  const answer = await read()
  assert.equal(await answer.text(), 'for all')
  assert.equal(answer.headers.get('content-security-policy'), 'sandbox')
  const list = await fetch(`${ergon.baseUrl}/${Bucket}/public?annotation`)
  assert.equal(list.status, 403, 'to read one is not to list them')
})
