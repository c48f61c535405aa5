// A policy's conditions apply to the effect of a request, not to its words alone.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteBucketPolicyCommand,
  GetBucketPolicyCommand,
  GetObjectCommand,
  HeadObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
  type CompleteMultipartUploadCommandInput,
  type CreateMultipartUploadCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { DENIED, LOCK, LOCKABLE, UNTIL, withStranger, type Fields } from './stranger.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

let ergon: Ergon
let s3: S3Client
let stranger: S3Client
let token: string

const { say, make, put, ask, postForm } = withStranger(
  (opened) => ({ ergon, s3, stranger, token } = opened),
)

test('a policy that forbids overwriting holds for every write', async () => {
  const bucket = await make('rights-overwrite')
  await put(s3, bucket, 'form')
  await say(
    bucket,
    { Action: 's3:PutObject' },
    {
      Effect: 'Deny',
      Action: 's3:PutObject',
      Condition: { Null: { 's3:if-none-match': 'true' } },
    },
  )
  const over = (value: string) =>
    put(stranger, bucket, 'form', { IfNoneMatch: value, Body: 'other' })
  await assert.rejects(over('"zzz"'), DENIED)
  await assert.rejects(over('zzz, yyy'), DENIED)
  await assert.rejects(over('*'), { name: 'PreconditionFailed' })
  await put(stranger, bucket, 'new', { IfNoneMatch: '*' })
  assert.equal(await postForm(bucket, { 'if-none-match': '*' }), 403)
  assert.equal(await postForm(bucket, {}, { 'if-none-match': '*' }), 403)
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: 'form' }))
  assert.equal(await Body?.transformToString(), 'text')
})

test('a form is judged by the headers of its request, not by fields of their names', async () => {
  const bucket = await make('rights-referer')
  const here = 'https://shop.example/upload'
  await say(bucket, {
    Action: 's3:PutObject',
    Condition: {
      StringLike: { 'aws:Referer': 'https://shop.example/*', 'aws:UserAgent': 'Browser/*' },
    },
  })
  const real = { referer: here, 'user-agent': 'Browser/1' }
  assert.equal(await postForm(bucket, real), 403)
  assert.equal(await postForm(bucket, real, { referer: 'https://evil.example/' }), 403)
  assert.equal(await postForm(bucket, {}, real), 204)
  assert.equal(await postForm(bucket, { referer: 'https://evil.example/' }, real), 204)
})

/** An upload of one part, and the same copied into a second; the completion is asked twice. */
async function uploadInParts(
  Bucket: string,
  begin: Partial<CreateMultipartUploadCommandInput> = {},
  end: Partial<CompleteMultipartUploadCommandInput> = {},
): Promise<void> {
  const named = { Bucket, Key: 'parts' }
  const { UploadId } = await stranger.send(new CreateMultipartUploadCommand({ ...named, ...begin }))
  const part = { ...named, UploadId }
  const Body = Buffer.alloc(5 * 1024 * 1024)
  const first = await stranger.send(new UploadPartCommand({ ...part, PartNumber: 1, Body }))
  const CopySource = `${Bucket}/source`
  const copy = new UploadPartCopyCommand({ ...part, PartNumber: 2, CopySource })
  const second = (await stranger.send(copy)).CopyPartResult
  const Parts = [first, second].map((made, at) => ({ ETag: made?.ETag, PartNumber: at + 1 }))
  for (const _ of ['once', 'again'])
    await stranger.send(
      new CompleteMultipartUploadCommand({ ...part, ...end, MultipartUpload: { Parts } }),
    )
}

test('parts and completions are judged by what the beginning of their upload said', async () => {
  const bucket = await make('rights-parts', LOCKABLE)
  await put(s3, bucket, 'source')
  const all = ['s3:GetObject', 's3:PutObject', 's3:PutObjectAcl', 's3:PutObjectTagging']
  const deny = { Effect: 'Deny', Action: 's3:PutObject' }
  const rows: [Condition: object, begin: object][] = [
    [{ Null: { 's3:x-amz-server-side-encryption': 'true' } }, { ServerSideEncryption: 'AES256' }],
    [
      { StringNotEquals: { 's3:x-amz-acl': 'bucket-owner-full-control' } },
      { ACL: 'bucket-owner-full-control' },
    ],
    [
      { StringNotEquals: { 's3:x-amz-storage-class': 'GLACIER_IR' } },
      { StorageClass: 'GLACIER_IR' },
    ],
    [{ StringNotEquals: { 's3:RequestObjectTag/class': 'open' } }, { Tagging: 'class=open' }],
  ]
  for (const [Condition, begin] of rows) {
    await say(bucket, { Action: all }, { ...deny, Condition })
    await assert.rejects(uploadInParts(bucket), DENIED)
    await uploadInParts(bucket, begin)
  }
  // The policy applies to uploads begun before it, whatever a part says.
  const named = { Bucket: bucket, Key: 'parts' }
  await say(bucket, { Action: all })
  const { UploadId } = await stranger.send(new CreateMultipartUploadCommand(named))
  await say(bucket, { Action: all }, { ...deny, Condition: rows[0]?.[0] ?? {} })
  const forged = await ask(
    'PUT',
    `/${bucket}/parts?partNumber=1&uploadId=${UploadId}`,
    { 'x-amz-server-side-encryption': 'AES256' },
    'text',
  )
  assert.equal(forged.status, 403, forged.text)
  const unknown = await ask('PUT', `/${bucket}/parts?partNumber=1&uploadId=none`, {}, 'text')
  assert.equal(unknown.status, 403, unknown.text)
})

test('a log is judged as it will be written, not by headers of the request that asks for it', async () => {
  const [source, logs] = [await make('rights-logged'), await make('rights-logs')]
  const LoggingEnabled = `<TargetBucket>${logs}</TargetBucket><TargetPrefix>p/</TargetPrefix>`
  const document = `<BucketLoggingStatus><LoggingEnabled>${LoggingEnabled}</LoggingEnabled></BucketLoggingStatus>`
  await say(source, {
    Action: 's3:PutBucketLogging',
    Resource: [`arn:aws:s3:::${source}`],
  })
  const headers = { 'x-amz-acl': 'bucket-owner-full-control', 'x-amz-tagging': 'class=log' }
  const logged = async () => (await ask('PUT', `/${source}?logging`, headers, document)).status
  for (const Condition of [
    { StringEquals: { 's3:x-amz-acl': 'bucket-owner-full-control' } },
    { StringEquals: { 's3:RequestObjectTag/class': 'log' } },
  ]) {
    await say(logs, { Action: 's3:PutObject', Condition })
    assert.equal(await logged(), 403)
  }
  await say(logs, { Action: 's3:PutObject' })
  assert.equal(await logged(), 200)
})

test('s3:ObjectCreationOperation tells what makes an object from the parts of one', async () => {
  const bucket = await make('rights-creation')
  await put(s3, bucket, 'source')
  await say(
    bucket,
    { Action: 's3:GetObject' },
    { Action: 's3:PutObject', Condition: { Null: { 's3:if-none-match': 'false' } } },
    { Action: 's3:PutObject', Condition: { Bool: { 's3:ObjectCreationOperation': 'false' } } },
  )
  await assert.rejects(put(stranger, bucket, 'k'), DENIED)
  const copy = { Bucket: bucket, Key: 'k', CopySource: `${bucket}/source` }
  await assert.rejects(stranger.send(new CopyObjectCommand(copy)), DENIED)
  assert.equal(await postForm(bucket, {}), 403)
  await assert.rejects(uploadInParts(bucket), DENIED)
  await put(stranger, bucket, 'k', { IfNoneMatch: '*' })
  await uploadInParts(bucket, {}, { IfNoneMatch: '*' })
})

test('a parameter that only listings have opens nothing else', async () => {
  const bucket = await make('rights-prefix')
  await put(s3, bucket, 'secret')
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`]
  const Condition = { StringLike: { 's3:prefix': 'open/*' } }
  await say(bucket, { Resource, Action: 's3:*', Condition })
  const forged = await ask('GET', `/${bucket}/secret?prefix=open/`)
  assert.equal(forged.status, 403, forged.text)
  assert.equal((await ask('GET', `/${bucket}?prefix=open/`)).status, 200)
  const tagged = { StringEquals: { 's3:ExistingObjectTag/class': 'locked' } }
  const Action = ['s3:GetObject', 's3:DeleteObject']
  const denied = say(bucket, { Effect: 'Deny', Action, Condition: tagged })
  await assert.rejects(denied, { name: 'MalformedPolicy', message: /s3:DeleteObject/ })
})

test('a header that does nothing meets no condition, and holds off no Deny', async () => {
  const bucket = await make('rights-forged')
  await put(s3, bucket, 'k')
  const rows: [method: string, headers: Fields, key: string, value: string][] = [
    ['GET', { 'x-amz-tagging': 'team=red' }, 's3:RequestObjectTag/team', 'red'],
    ['GET', { 'x-amz-storage-class': 'STANDARD' }, 's3:x-amz-storage-class', 'STANDARD'],
    ['DELETE', { 'x-amz-object-lock-mode': 'GOVERNANCE' }, 's3:object-lock-mode', 'GOVERNANCE'],
  ]
  for (const [method, headers, key, value] of rows) {
    const action = method === 'GET' ? 's3:GetObject' : 's3:DeleteObject'
    const status = async () => (await ask(method, `/${bucket}/k`, headers)).status
    // As AWS, it refuses a condition that none of the actions can meet.
    const alone = say(bucket, { Action: action, Condition: { StringEquals: { [key]: value } } })
    await assert.rejects(alone, { name: 'MalformedPolicy' })
    await say(bucket, {
      Action: [action, 's3:PutObject'],
      Condition: { StringEquals: { [key]: value } },
    })
    assert.equal(await status(), 403, `${method} by ${key}`)
    const Condition = { StringNotEquals: { [key]: value } }
    await say(
      bucket,
      { Action: action },
      { Effect: 'Deny', Action: [action, 's3:PutObject'], Condition },
    )
    assert.equal(await status(), 403, `${method} despite ${key}`)
  }
  await say(bucket, { Action: 's3:GetObject' })
  assert.equal((await ask('GET', `/${bucket}/k`)).status, 200)
})

test('a deletion of many keys is under the conditions that its document names for each', async () => {
  const bucket = await make('rights-batch')
  const { ETag = '' } = await put(s3, bucket, 'bound')
  await put(s3, bucket, 'free')
  const Condition = { Null: { 's3:if-match': 'false' } }
  await say(bucket, { Action: 's3:DeleteObject', Condition })
  const named = (key: string, more = '') => `<Object><Key>${key}</Key>${more}</Object>`
  const document = `<Delete>${named('bound', `<ETag>${ETag}</ETag>`)}${named('free')}</Delete>`
  const checksum = createHash('md5').update(document).digest('base64')
  const forged = { 'content-md5': checksum, 'if-match': ETag }
  const { status, text } = await ask('POST', `/${bucket}?delete`, forged, document)
  assert.equal(status, 200, text)
  assert.match(text, /<Deleted><Key>bound<\/Key>/)
  assert.match(text, /<Error><Key>free<\/Key><Code>AccessDenied<\/Code>/)
})

test('governance is bypassed under conditions on what the document sets, not on headers', async () => {
  const bucket = await make('rights-bypass', LOCKABLE)
  const { VersionId } = await put(s3, bucket, 'k', LOCK)
  await say(
    bucket,
    { Action: ['s3:PutObjectRetention', 's3:DeleteObjectVersion'] },
    {
      Action: 's3:BypassGovernanceRetention',
      Condition: {
        NumericGreaterThanEquals: { 's3:object-lock-remaining-retention-days': '365' },
      },
    },
  )
  const bypass = { 'x-amz-bypass-governance-retention': 'true' }
  const forged = {
    ...bypass,
    'x-amz-object-lock-mode': 'GOVERNANCE',
    'x-amz-object-lock-retain-until-date': UNTIL.toISOString(),
  }
  const retain = async (until: string, headers: object) => {
    const document = `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>${until}</RetainUntilDate></Retention>`
    return (await ask('PUT', `/${bucket}/k?retention`, headers, document)).status
  }
  const soon = new Date(Date.now() + 86_400_000).toISOString()
  for (const headers of [bypass, forged]) {
    assert.equal(await retain(soon, headers), 403)
    const gone = await ask('DELETE', `/${bucket}/k?versionId=${VersionId}`, headers)
    assert.equal(gone.status, 403, gone.text)
  }
  assert.equal(await retain('2090-01-01T00:00:00Z', bypass), 200)
})

test('a limit on retention holds for a date with a space before it', async () => {
  const bucket = await make('rights-dates', LOCKABLE)
  await say(
    bucket,
    { Action: ['s3:PutObject', 's3:PutObjectRetention'] },
    {
      Effect: 'Deny',
      Action: 's3:PutObjectRetention',
      Condition: { NumericGreaterThan: { 's3:object-lock-remaining-retention-days': '10' } },
    },
  )
  const post = (date: string) =>
    postForm(bucket, {
      'x-amz-object-lock-mode': 'COMPLIANCE',
      'x-amz-object-lock-retain-until-date': date,
    })
  assert.equal(await post('2099-01-01T00:00:00Z'), 403)
  assert.equal(await post(' 2099-01-01T00:00:00Z'), 400)
})

test('a policy is not to be read, replaced or deleted by who is of another account', async () => {
  const bucket = await make('rights-policy')
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`]
  await say(bucket, { Principal: '*', Action: 's3:*', Resource })
  const { Policy = '' } = await s3.send(new GetBucketPolicyCommand({ Bucket: bucket }))
  const statuses = async () => {
    const found: number[] = []
    for (const headers of [{}, { authorization: `Bearer ${token}` }])
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const sent = { method, headers, ...(method === 'PUT' && { body: Policy }) }
        const answer = await fetch(`${ergon.baseUrl}/${bucket}?policy`, sent)
        await answer.arrayBuffer()
        found.push(answer.status)
      }
    return found
  }
  assert.deepEqual(await statuses(), Array(6).fill(405))
  await s3.send(new DeleteBucketPolicyCommand({ Bucket: bucket }))
  assert.deepEqual(await statuses(), Array(6).fill(403))
})

test('a read tells of tags and locks what its caller may read, of the version that it asks for', async () => {
  const bucket = await make('rights-told', LOCKABLE)
  const Key = 'k'
  const { VersionId } = await put(s3, bucket, Key, {
    Tagging: 'class=secret',
    ...LOCK,
    ObjectLockLegalHoldStatus: 'ON',
  })
  const told = async (client: S3Client, version?: string) => {
    const head = new HeadObjectCommand({ Bucket: bucket, Key, VersionId: version })
    const { TagCount, ObjectLockMode, ObjectLockRetainUntilDate, ObjectLockLegalHoldStatus } =
      await client.send(head)
    return [
      TagCount,
      ObjectLockMode,
      ObjectLockRetainUntilDate?.getTime(),
      ObjectLockLegalHoldStatus,
    ]
  }
  const retention = [LOCK.ObjectLockMode, LOCK.ObjectLockRetainUntilDate.getTime()]
  const none = undefined
  assert.deepEqual(await told(s3), [1, ...retention, 'ON'])
  const reads = ['s3:GetObject', 's3:GetObjectVersion']
  for (const [action, latest, version] of [
    ['s3:GetObjectTagging', [1, none, none, none], [none, none, none, none]],
    ['s3:GetObjectVersionTagging', [none, none, none, none], [1, none, none, none]],
    ['s3:GetObjectRetention', [none, ...retention, none], [none, ...retention, none]],
    ['s3:GetObjectLegalHold', [none, none, none, 'ON'], [none, none, none, 'ON']],
  ] as const) {
    await say(bucket, { Action: [...reads, action] })
    assert.deepEqual(await told(stranger), latest, action)
    assert.deepEqual(await told(stranger, VersionId), version, action)
  }
})
