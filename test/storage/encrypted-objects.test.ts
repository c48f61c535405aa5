// Objects with encryption: by a key of the service, and by one of the client.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'

product(STORAGE)

const Bucket = 'storage-sealed'

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })

async function bytesOf(Key: string, Range?: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key, Range }))
  assert.ok(Body)
  return Buffer.from(await Body.transformToByteArray())
}

test('encrypted bodies come back to who has the key, and are not on the disk as they were', async () => {
  const text = 'a text that must not be found'.repeat(4000)
  const customer = randomBytes(32)
  const withKey = {
    SSECustomerAlgorithm: 'AES256',
    SSECustomerKey: customer.toString('base64'),
    SSECustomerKeyMD5: createHash('md5').update(customer).digest('base64'),
  }
  const stored = await s3.send(
    new PutObjectCommand({ Bucket, Key: 'sealed', Body: text, ServerSideEncryption: 'AES256' }),
  )
  assert.equal(stored.ServerSideEncryption, 'AES256')
  assert.equal((await bytesOf('sealed')).toString(), text)
  assert.equal(
    (await bytesOf('sealed', 'bytes=70000-70010')).toString(),
    text.slice(70_000, 70_011),
  )
  const found = spawnSync('grep', ['-rl', 'must not be found', join(ergon.dataFolder, 'blobs')])
  assert.equal(found.stdout.toString(), '')

  await s3.send(new PutObjectCommand({ Bucket, Key: 'mine', Body: 'small', ...withKey }))
  const mine = await s3.send(new GetObjectCommand({ Bucket, Key: 'mine', ...withKey }))
  assert.equal(await mine.Body?.transformToString(), 'small')
  await assert.rejects(bytesOf('mine'), { name: 'InvalidRequest' })
})

test('completing an upload says how it is encrypted, and wants the key that its parts had', async () => {
  const key = randomBytes(32)
  const withKey = {
    SSECustomerAlgorithm: 'AES256',
    SSECustomerKey: key.toString('base64'),
    SSECustomerKeyMD5: createHash('md5').update(key).digest('base64'),
  }
  const complete = async (Key: string, begin: object, finish: object) => {
    const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key, ...begin }))
    const part = { Bucket, Key, UploadId, PartNumber: 1, Body: 'a part', ...finish }
    const { ETag } = await s3.send(new UploadPartCommand(part))
    const Parts = [{ PartNumber: 1, ETag }]
    const whole = { Bucket, Key, UploadId, MultipartUpload: { Parts } }
    if (Object.keys(finish).length > 0)
      await assert.rejects(s3.send(new CompleteMultipartUploadCommand(whole)), {
        name: 'InvalidRequest',
      })
    return await s3.send(new CompleteMultipartUploadCommand({ ...whole, ...finish }))
  }
  const own = await complete('parts-sealed', { ServerSideEncryption: 'AES256' }, {})
  assert.equal(own.ServerSideEncryption, 'AES256')
  await complete('parts-mine', withKey, withKey)
  const mine = await s3.send(new GetObjectCommand({ Bucket, Key: 'parts-mine', ...withKey }))
  assert.equal(await mine.Body?.transformToString(), 'a part')
})
