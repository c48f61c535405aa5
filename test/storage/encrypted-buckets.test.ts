// Where the operator has new buckets encrypt: what a bucket says of it is what is done with its objects.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  CreateBucketCommand,
  DeleteBucketEncryptionCommand,
  GetBucketEncryptionCommand,
  GetObjectCommand,
  PutBucketEncryptionCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const Bucket = 'encrypted-buckets'
let s3: S3Client
before(() => {
  s3 = s3ClientOf(sharedErgon())
})
after(() => s3.destroy())

async function algorithmOf(): Promise<string | undefined> {
  const { ServerSideEncryptionConfiguration: found } = await s3.send(
    new GetBucketEncryptionCommand({ Bucket }),
  )
  return found?.Rules?.[0]?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm
}

test('a new bucket says AES256, encrypts what asks for nothing, and does so again after a deletion', async () => {
  await s3.send(new CreateBucketCommand({ Bucket }))
  assert.equal(await algorithmOf(), 'AES256')
  const place = { Bucket, Key: 'key' }
  const put = await s3.send(new PutObjectCommand({ ...place, Body: 'plain text' }))
  assert.equal(put.ServerSideEncryption, 'AES256')
  const rows = await sharedErgon().sql(
    `select encode(v.inline, 'escape') as body from object_versions v join buckets b on b.id = v.bucket
     where b.name = $1`,
    [Bucket],
  )
  assert.ok(rows.length === 1 && !JSON.stringify(rows).includes('plain text'))
  const { Body, ServerSideEncryption } = await s3.send(new GetObjectCommand(place))
  assert.deepEqual(
    [await Body?.transformToString(), ServerSideEncryption],
    ['plain text', 'AES256'],
  )
  const Rules = [
    {
      ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' as const },
      BucketKeyEnabled: true,
    },
  ]
  const ServerSideEncryptionConfiguration = { Rules }
  await s3.send(new PutBucketEncryptionCommand({ Bucket, ServerSideEncryptionConfiguration }))
  await s3.send(new DeleteBucketEncryptionCommand({ Bucket }))
  assert.equal(await algorithmOf(), 'AES256')
  // Made again it stays.
  await s3.send(new CreateBucketCommand({ Bucket }))
})
