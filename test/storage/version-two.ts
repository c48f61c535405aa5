// Signature version 2 by the clients that use it by default, where they are installed: boto3 presigns with it in
// three regions, aws and s3fs by boto3's default, s3cmd always.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  CreateBucketCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutBucketPolicyCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { chargeOf } from '../books.ts'
import type { Ergon } from '../start-ergon.ts'
import { withClient } from './client.ts'
import { missing, missingModule, runClient } from './client-programs.ts'
import { versionTwoAddress } from './version-two-address.ts'

const Bucket = 'storage-version-two'
const KEY = "a b/ü+'(1)*.txt"
const TEXT = 'signed with version 2'
const REGIONS = ['us-east-1', 'us-west-2', 'eu-west-1']
const work = mkdtempSync(join(tmpdir(), 'ergon-version-two-'))

let ergon: Ergon
let s3: S3Client
withClient((opened) => ({ ergon, s3 } = opened), { Bucket })
before(async () => {
  await s3.send(new PutObjectCommand({ Bucket, Key: KEY, Body: TEXT }))
})
after(() => rmSync(work, { recursive: true, force: true }))

const run = (program: string, words: readonly string[], env: Record<string, string> = {}) =>
  runClient(ergon, program, words, { HOME: work, ...env })
const python = async (script: string, env: Record<string, string> = {}) =>
  JSON.parse(await run('python3', ['-c', script, ergon.baseUrl, Bucket, KEY], env)) as unknown

async function assertRefusal(answer: Response, code: string, status = 403): Promise<string> {
  const text = await answer.text()
  assert.equal(answer.status, status, text)
  assert.match(text, new RegExp(`<Code>${code}</Code>`))
  return text
}

const textOf = async (url: string): Promise<string> => {
  const answer = await fetch(url)
  const text = await answer.text()
  assert.equal(answer.status, 200, text)
  return text
}

const PRESIGN = `
import boto3, json, sys
base, bucket, key = sys.argv[1:]
put = {'Bucket': bucket, 'Key': 'by boto3', 'ContentType': 'text/plain', 'Metadata': {'a': 'b c'}}
found = []
for region in ${JSON.stringify(REGIONS)}:
    client = boto3.client('s3', endpoint_url=base, region_name=region)
    sign = client.generate_presigned_url
    found.append([
        sign('get_object', {'Bucket': bucket, 'Key': key}),
        sign('get_object', {'Bucket': bucket, 'Key': key, 'ResponseContentType': 'a/b; c=+d'}),
        sign('put_object', put),
    ])
print(json.dumps(found))`

test(
  "boto3's presigned addresses in the regions where it signs with version 2",
  { skip: missingModule('boto3') },
  async () => {
    const found = (await python(PRESIGN)) as string[][]
    assert.equal(found.length, REGIONS.length)
    for (const [read = '', typed = '', write = ''] of found) {
      for (const url of [read, typed, write]) assert.match(url, /[?&]AWSAccessKeyId=/)
      const answer = await fetch(read)
      assert.equal(await answer.text(), TEXT)
      const { account, operation } = await chargeOf(ergon, answer.headers.get('x-receipt-id') ?? '')
      assert.deepEqual([account, operation], [ergon.account, 'storage.get-object'])
      assert.equal((await fetch(typed)).headers.get('content-type'), 'a/b; c=+d')

      // The address's parameters count, with and without the same header.
      for (const headers of [{}, { 'content-type': 'text/plain', 'x-amz-meta-a': 'b c' }]) {
        const put = await fetch(write, { method: 'PUT', body: Buffer.from('put'), headers })
        assert.equal(put.status, 200, await put.text())
        const head = await s3.send(new HeadObjectCommand({ Bucket, Key: 'by boto3' }))
        assert.deepEqual([head.ContentType, head.Metadata], ['text/plain', { a: 'b c' }])
      }
      const body = Buffer.from('x')
      for (const headers of [{ 'content-type': 'text/html' }, { 'x-amz-acl': 'public-read' }])
        await assertRefusal(
          await fetch(write, { method: 'PUT', body, headers }),
          'SignatureDoesNotMatch',
        )
      for (const changed of [
        typed.replace('a%2Fb', 'a%2Fc'),
        read.replace('.txt?', '.txtx?'),
        read.replace(/Expires=\d+/, (expires) => `${expires}0`),
        `${read}&retention`,
        `${read}&versionId=null`,
      ])
        await assertRefusal(await fetch(changed), 'SignatureDoesNotMatch')
      await assertRefusal(await fetch(read, { method: 'DELETE' }), 'SignatureDoesNotMatch')
    }
  },
)

const WORK = `
import boto3, io, json, sys
from botocore.config import Config
base, bucket, key = sys.argv[1:]
config = Config(signature_version='s3')
client = boto3.client('s3', endpoint_url=base, config=config)
client.put_object(Bucket=bucket, Key='dir/' + key, Body=b'text', Metadata={'a': ' b  c '}, ContentType='text/plain', Tagging='a=b')
found = {'metadata': client.head_object(Bucket=bucket, Key='dir/' + key)['Metadata']}
found['keys'] = [one['Key'] for one in client.list_objects_v2(Bucket=bucket, Prefix='dir/', MaxKeys=5)['Contents']]
found['tags'] = client.get_object_tagging(Bucket=bucket, Key='dir/' + key)['TagSet']
client.copy_object(Bucket=bucket, Key='dir/copy', CopySource={'Bucket': bucket, 'Key': 'dir/' + key})
parts = io.BytesIO(b'x' * (6 * 1024 * 1024))
transfer = boto3.s3.transfer.TransferConfig(multipart_threshold=1, multipart_chunksize=5 * 1024 * 1024)
client.upload_fileobj(parts, bucket, 'dir/parts', Config=transfer)
found['parts'] = client.head_object(Bucket=bucket, Key='dir/parts', PartNumber=1)['PartsCount']
found['range'] = client.get_object(Bucket=bucket, Key='dir/copy', Range='bytes=1-2')['Body'].read().decode()
client.delete_objects(Bucket=bucket, Delete={'Objects': [{'Key': 'dir/parts'}, {'Key': 'dir/copy'}]})
found['left'] = client.list_objects(Bucket=bucket, Prefix='dir/')['Contents'][0]['Key']
print(json.dumps(found))`

test(
  'boto3 with headers of version 2: objects, parts, tags, copies, deletes',
  { skip: missingModule('boto3') },
  async () => {
    assert.deepEqual(await python(WORK), {
      metadata: { a: 'b  c' },
      keys: [`dir/${KEY}`],
      tags: [{ Key: 'a', Value: 'b' }],
      parts: 2,
      range: 'ex',
      left: `dir/${KEY}`,
    })
  },
)

test('aws s3 presign in a region of version 2', { skip: missing('aws') }, async () => {
  const words = ['--endpoint-url', ergon.baseUrl, 's3', 'presign', `s3://${Bucket}/${KEY}`]
  const url = (await run('aws', words, { AWS_DEFAULT_REGION: 'us-east-1' })).trim()
  assert.equal(await textOf(url), TEXT)
})

test('s3cmd: signurl, and headers of version 2', { skip: missing('s3cmd') }, async () => {
  const host = ergon.baseUrl.replace('http://', '')
  const s3cmd = (...words: string[]) =>
    run('s3cmd', [
      '--no-ssl',
      `--host=${host}`,
      `--host-bucket=${host}`,
      `--access_key=${ergon.token}`,
      `--secret_key=${ergon.token}`,
      '--signature-v2',
      '--no-progress',
      ...words,
    ])
  assert.equal(await textOf((await s3cmd('signurl', `s3://${Bucket}/${KEY}`, '+600')).trim()), TEXT)
  // Half a year: an end that is far away is the signer's to choose.
  const far = (await s3cmd('signurl', `s3://${Bucket}/${KEY}`, '+15552000')).trim()
  assert.equal(await textOf(far), TEXT)
  writeFileSync(join(work, 'up'), TEXT)
  await s3cmd('put', join(work, 'up'), `s3://${Bucket}/by s3cmd`)
  await s3cmd('get', `s3://${Bucket}/by s3cmd`, join(work, 'down'))
  assert.equal(readFileSync(join(work, 'down'), 'utf8'), TEXT)
  assert.match(await s3cmd('ls', `s3://${Bucket}/by`), /by s3cmd/)
})

const S3FS = `
import json, s3fs, sys
base, bucket, key = sys.argv[1:]
print(json.dumps(s3fs.S3FileSystem(endpoint_url=base).url(bucket + '/' + key)))`

test('s3fs: url()', { skip: missingModule('s3fs') }, async () => {
  const url = await python(S3FS, { AWS_DEFAULT_REGION: 'us-east-1' })
  assert.equal(await textOf(String(url)), TEXT)
})

test('an address of version 2 ends, and what is no end is refused', async () => {
  const keys = { id: ergon.token, secret: ergon.token }
  const path = `/${Bucket}/plain`
  await s3.send(new PutObjectCommand({ Bucket, Key: 'plain', Body: TEXT }))
  const at = (expires?: number) =>
    versionTwoAddress(ergon.baseUrl, keys, { path, ...(expires === undefined ? {} : { expires }) })
  const now = Math.floor(Date.now() / 1000)
  assert.equal(await textOf(at()), TEXT)
  for (const expires of [now - 1, 0, -7])
    assert.match(await assertRefusal(await fetch(at(expires)), 'AccessDenied'), /has expired/)
  for (const expires of [Number.NaN, 1e13, 1.5, Number.POSITIVE_INFINITY])
    assert.match(
      await assertRefusal(await fetch(at(expires)), 'AccessDenied'),
      /seconds since epoch/,
    )
  // A body of the chunks that version 4 chains to its signature has nothing to be chained to.
  const url = versionTwoAddress(ergon.baseUrl, keys, { path, method: 'PUT' })
  const streaming = { 'x-amz-content-sha256': 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD' }
  const put = await fetch(url, { method: 'PUT', body: 'x', headers: streaming })
  await assertRefusal(put, 'SignatureDoesNotMatch')
  const other = { id: ergon.token, secret: `${ergon.token}x` }
  await assertRefusal(
    await fetch(versionTwoAddress(ergon.baseUrl, other, { path })),
    'SignatureDoesNotMatch',
  )
})

test('a policy may refuse what is signed with version 2, or by an address', async () => {
  const bucket = 'storage-version-two-refused'
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'key', Body: TEXT }))
  const keys = { id: ergon.token, secret: ergon.token }
  const url = versionTwoAddress(ergon.baseUrl, keys, { path: `/${bucket}/key` })
  const deny = async (Condition: object) => {
    const Statement = [
      {
        Effect: 'Deny',
        Principal: '*',
        Action: 's3:*',
        Resource: `arn:aws:s3:::${bucket}/*`,
        Condition,
      },
    ]
    const Policy = JSON.stringify({ Version: '2012-10-17', Statement })
    await s3.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }))
  }
  assert.equal(await textOf(url), TEXT)
  for (const condition of [
    { StringNotEquals: { 's3:signatureversion': 'AWS4-HMAC-SHA256' } },
    { StringEquals: { 's3:signatureversion': 'AWS' } },
    { StringEquals: { 's3:authType': 'REST-QUERY-STRING' } },
  ]) {
    await deny(condition)
    await assertRefusal(await fetch(url), 'AccessDenied')
    await s3.send(new GetObjectCommand({ Bucket: bucket, Key: 'key' }))
  }
})
