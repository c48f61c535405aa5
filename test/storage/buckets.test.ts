// Buckets as they are made, and made again.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  CreateBucketCommand,
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened))

test('a bucket is made with its tags; made again it stays, and what it is not is told', async () => {
  const again = { Bucket: 'objects-made-again' }
  const Tags = [{ Key: 'team', Value: 'blue' }]
  const tagged = { ...again, CreateBucketConfiguration: { Tags } }
  for (const input of [tagged, tagged, again]) await s3.send(new CreateBucketCommand(input))
  assert.deepEqual((await s3.send(new GetBucketTaggingCommand(again))).TagSet, Tags)
  const others = [
    { ...again, ObjectLockEnabledForBucket: true },
    { ...again, ObjectOwnership: 'ObjectWriter' as const },
    { ...again, CreateBucketConfiguration: { Tags: [{ Key: 'team', Value: 'red' }] } },
  ]
  for (const input of others)
    await assert.rejects(s3.send(new CreateBucketCommand(input)), {
      name: 'BucketAlreadyOwnedByYou',
    })
  const directory = {
    Bucket: { Type: 'Directory', DataRedundancy: 'SingleAvailabilityZone' },
  } as const
  const input = { Bucket: 'objects-directory', CreateBucketConfiguration: directory }
  await assert.rejects(s3.send(new CreateBucketCommand(input)), { name: 'NotImplemented' })
  assert.deepEqual((await s3.send(new GetBucketTaggingCommand(again))).TagSet, Tags)
})

test('a policy that shuts everybody out leaves its owner the policy', async () => {
  const Bucket = 'buckets-shut'
  const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`]
  const Statement = [{ Effect: 'Deny', Principal: '*', Action: 's3:*', Resource }]
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await s3.send(new CreateBucketCommand({ Bucket }))
  for (let times = 0; times < 2; times++)
    await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  await assert.rejects(s3.send(new ListObjectsV2Command({ Bucket })), { name: 'AccessDenied' })
  assert.equal((await s3.send(new GetBucketPolicyCommand({ Bucket }))).Policy, Policy)
  await s3.send(new DeleteBucketPolicyCommand({ Bucket }))
  assert.equal((await s3.send(new ListObjectsV2Command({ Bucket }))).KeyCount, 0)
})

test('a policy made to be slow is given up, and its owner can still take it away', async () => {
  const Bucket = 'buckets-slow'
  const Resource = Array(12).fill(`arn:aws:s3:::${Bucket}/*?${'a'.repeat(500)}b*`)
  const Action = ['s3:GetObject', 's3:DeleteObject']
  const slow = { Effect: 'Allow', Principal: '*', Action, Resource }
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: slow })
  await s3.send(new CreateBucketCommand({ Bucket }))
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  const refused = async (answer: Response) => {
    assert.equal(answer.status, 403)
    assert.match(await answer.text(), /<Code>AccessDenied<.*takes too long to judge/)
  }
  const key = 'a'.repeat(1000)
  await s3.send(new PutObjectCommand({ Bucket, Key: key, Body: 'x' }))
  await refused(await fetch(`${ergon.baseUrl}/${Bucket}/${key}`))
  const keys = Array.from({ length: 1000 }, (_, at) => `<Object><Key>${key}${at}</Key></Object>`)
  const body = `<Delete>${keys.join('')}</Delete>`
  const headers = { 'content-md5': createHash('md5').update(body).digest('base64') }
  const url = `${ergon.baseUrl}/${Bucket}?delete`
  await refused(await fetch(url, { method: 'POST', headers, body }))
  await s3.send(new DeleteBucketPolicyCommand({ Bucket }))
  const closed = await fetch(url, { method: 'POST', headers, body })
  assert.equal(closed.status, 403)
  assert.match(await closed.text(), /<Code>AccessDenied</)
})

test('behind a trusted proxy a policy is about who asked the proxy, and how', async () => {
  const Bucket = 'buckets-behind-a-proxy'
  await s3.send(new CreateBucketCommand({ Bucket }))
  await s3.send(new PutObjectCommand({ Bucket, Key: 'page', Body: 'x' }))
  const Condition = {
    Bool: { 'aws:SecureTransport': 'true' },
    IpAddress: { 'aws:SourceIp': '203.0.113.0/24' },
  }
  const Resource = [`arn:aws:s3:::${Bucket}/*`]
  const Statement = [
    { Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource, Condition },
  ]
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
  const ask = async (client: string, protocol: string) => {
    const headers = { 'x-forwarded-for': client, 'x-forwarded-proto': protocol }
    const answer = await fetch(`${ergon.baseUrl}/${Bucket}/page`, { headers })
    await answer.text()
    return answer.status
  }
  assert.equal(await ask('203.0.113.9', 'https'), 200)
  assert.equal(await ask('203.0.113.9', 'http'), 403)
  assert.equal(await ask('198.51.100.1', 'https'), 403)
  assert.equal(await ask('203.0.113.9, 198.51.100.1', 'https'), 403)
})
