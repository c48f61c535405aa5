// Object storage by the AWS SDK, in a bucket of its own that is removed at the end.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, describe } from 'node:test'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { energyHeaderFaults } from './energy-headers.ts'
import { instance, needing } from './world.ts'

const Bucket = `acceptance-${randomBytes(8).toString('hex')}`
const place = { Bucket, Key: 'a folder/ü.txt' }
const BYTES = randomBytes(200_000)

let opened: S3Client | undefined
const headersSeen: Record<string, string>[] = []

function client(): S3Client {
  if (opened !== undefined) return opened
  const { baseUrl, token, s3Key = `${token}:${token}` } = instance()
  const [accessKeyId = '', secretAccessKey = ''] = s3Key.split(':')
  opened = new S3Client({
    endpoint: baseUrl,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
  })
  opened.middlewareStack.add(
    (next) => async (given) => {
      const result = await next(given)
      headersSeen.push((result.response as { headers: Record<string, string> }).headers)
      return result
    },
    { step: 'deserialize', priority: 'low' },
  )
  return opened
}

describe('S3', () => {
  const test = needing('storage')
  after(() => opened?.destroy())

  test('an object is put, listed and read back, byte for byte', async () => {
    await client().send(new CreateBucketCommand({ Bucket }))
    await client().send(new PutObjectCommand({ ...place, Body: BYTES }))
    const { Contents } = await client().send(new ListObjectsV2Command({ Bucket }))
    assert.deepEqual(
      Contents?.map(({ Key, Size }) => [Key, Size]),
      [[place.Key, BYTES.length]],
    )
    const { Body } = await client().send(new GetObjectCommand(place))
    assert.ok(BYTES.equals((await Body?.transformToByteArray()) ?? Buffer.alloc(0)))
  })

  test('an object and a bucket that are deleted are gone', async () => {
    await client().send(new DeleteObjectCommand(place))
    await assert.rejects(client().send(new GetObjectCommand(place)), { name: 'NoSuchKey' })
    await client().send(new DeleteBucketCommand({ Bucket }))
    await assert.rejects(client().send(new ListObjectsV2Command({ Bucket })), {
      name: 'NoSuchBucket',
    })
  })

  test('every answer carries the energy headers', async () => {
    assert.ok(headersSeen.length >= 6)
    for (const headers of headersSeen) assert.deepEqual(energyHeaderFaults(headers), [])
  })
})
