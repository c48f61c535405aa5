// Buckets as they are made, and made again.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  type BucketLocationConstraint,
  CreateBucketCommand,
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  GetBucketTaggingCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { sharedErgon } from '../parts.ts'
import { s3ClientOf } from '../s3-client.ts'

let s3: S3Client

before(() => {
  s3 = s3ClientOf(sharedErgon())
})

test('a bucket is made with its tags; made again it stays, and what it is not is told', async () => {
  const again = { Bucket: 'objects-made-again' }
  const Tags = [{ Key: 'team', Value: 'blue' }]
  const tagged = { ...again, CreateBucketConfiguration: { Tags } }
  for (const input of [tagged, tagged, again]) await s3.send(new CreateBucketCommand(input))
  assert.deepEqual((await s3.send(new GetBucketTaggingCommand(again))).TagSet, Tags)
  const elsewhere = { LocationConstraint: 'moon-1' as BucketLocationConstraint }
  const others = [
    { ...again, ObjectLockEnabledForBucket: true },
    { ...again, ObjectOwnership: 'ObjectWriter' as const },
    { ...again, CreateBucketConfiguration: elsewhere },
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
