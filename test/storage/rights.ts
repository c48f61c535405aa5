// What a policy says of versions, tags, locks and ACLs holds wherever a request names them.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type CreateBucketCommandInput,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { s3ClientOf } from '../s3-client.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'

const DENIED = { name: 'AccessDenied' }

let ergon: Ergon
let s3: S3Client
/** Another account, which may what policies say. */
let stranger: S3Client
let account: string
let token: string

withClient((opened) => ({ ergon, s3 } = opened))

before(async () => {
  ;({ id: account } = await ergon.control<{ id: string }>('POST', '/accounts', { env: 'test' }))
  const asked = { scope: 'deploy', account }
  ;({ token } = await ergon.control<{ token: string }>('POST', '/tokens', asked))
  stranger = s3ClientOf(ergon, token)
})

type Said = {
  readonly Action: string | readonly string[]
  readonly Effect?: string
  readonly Condition?: object
}

/** Replaces the policy of a bucket: what is said is said of the stranger and of its keys. */
async function say(Bucket: string, ...said: readonly Said[]): Promise<void> {
  const Policy = JSON.stringify({
    Statement: said.map((one) => ({
      Effect: 'Allow',
      Principal: { AWS: account },
      Resource: `arn:aws:s3:::${Bucket}/*`,
      ...one,
    })),
  })
  await s3.send(new PutBucketPolicyCommand({ Bucket, Policy }))
}

async function make(
  Bucket: string,
  more: Omit<CreateBucketCommandInput, 'Bucket'> = {},
): Promise<string> {
  await s3.send(new CreateBucketCommand({ Bucket, ...more }))
  return Bucket
}

const put = async (
  client: S3Client,
  Bucket: string,
  Key: string,
  more: Partial<PutObjectCommandInput> = {},
) => await client.send(new PutObjectCommand({ Bucket, Key, Body: 'text', ...more }))

const ask = async (method: string, path: string, headers: object = {}, body?: string) => {
  const authorization = `Bearer ${token}`
  const sent = { method, headers: { authorization, ...headers }, ...(body && { body }) }
  const answer = await fetch(ergon.baseUrl + path, sent)
  return { status: answer.status, text: await answer.text() }
}

test('a condition on versions is of the version that is asked for, wherever the request names it', async () => {
  const victim = await make('rights-versions')
  const own = 'rights-versions-own'
  await stranger.send(new CreateBucketCommand({ Bucket: own }))
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await s3.send(new PutBucketVersioningCommand({ Bucket: victim, VersioningConfiguration }))
  const Key = 'k'
  const { VersionId: secret = '' } = await put(s3, victim, Key)
  const { VersionId: open = '' } = await put(s3, victim, Key)
  await say(victim, {
    Action: ['s3:GetObjectVersion', 's3:DeleteObjectVersion'],
    Condition: { StringEquals: { 's3:VersionId': open } },
  })
  const read = (VersionId: string) =>
    stranger.send(new GetObjectCommand({ Bucket: victim, Key, VersionId }))
  await read(open)
  await assert.rejects(read(secret), DENIED)

  const source = (version: string) => `${victim}/${Key}?versionId=${version}`
  const copy = (version: string) =>
    stranger.send(new CopyObjectCommand({ Bucket: own, Key, CopySource: source(version) }))
  await copy(open)
  await assert.rejects(copy(secret), DENIED)
  const forged = await ask('PUT', `/${own}/${Key}?versionId=${open}`, {
    'x-amz-copy-source': source(secret),
  })
  assert.equal(forged.status, 400, forged.text)
  assert.match(forged.text, /<Code>InvalidArgument</)

  const batch = `<Delete><Object><Key>${Key}</Key><VersionId>${secret}</VersionId></Object></Delete>`
  const forgedBatch = await ask('POST', `/${victim}?delete&versionId=${open}`, {}, batch)
  assert.equal(forgedBatch.status, 400, forgedBatch.text)
  const Objects = [secret, open].map((VersionId) => ({ Key, VersionId }))
  const command = new DeleteObjectsCommand({ Bucket: victim, Delete: { Objects } })
  const { Deleted, Errors } = await stranger.send(command)
  assert.deepEqual(
    [Deleted?.map(({ VersionId }) => VersionId), Errors?.map(({ Code }) => Code)],
    [[open], ['AccessDenied']],
  )
  await s3.send(new GetObjectCommand({ Bucket: victim, Key, VersionId: secret }))
})
