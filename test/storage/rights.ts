// What a policy says of versions, tags, locks and ACLs holds wherever a request names them.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketPolicyCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketPolicyCommand,
  GetObjectAnnotationCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  ListObjectAnnotationsCommand,
  PutBucketAclCommand,
  PutBucketPolicyCommand,
  PutBucketVersioningCommand,
  PutObjectAnnotationCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  type CreateBucketCommandInput,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import { createPresignedPost } from '@aws-sdk/s3-presigned-post'
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
  readonly Principal?: '*'
  readonly Resource?: readonly string[]
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

const UNTIL = new Date('2099-01-01')
const LOCK = { ObjectLockMode: 'GOVERNANCE', ObjectLockRetainUntilDate: UNTIL } as const

/** What a write sets by headers, and the action that lets it. */
const SETTINGS: readonly [action: string, set: Partial<PutObjectCommandInput>][] = [
  ['s3:PutObjectRetention', LOCK],
  ['s3:PutObjectLegalHold', { ObjectLockLegalHoldStatus: 'ON' }],
  ['s3:PutObjectAcl', { ACL: 'bucket-owner-full-control' }],
  [
    's3:PutObjectAcl',
    { GrantRead: 'uri=http://acs.amazonaws.com/groups/global/AuthenticatedUsers' },
  ],
  ['s3:PutObjectTagging', { Tagging: 'class=open' }],
]

const LOCKABLE = {
  ObjectLockEnabledForBucket: true,
  ObjectOwnership: 'ObjectWriter',
} as const

test('s3:PutObject alone sets no lock, no list and no tags', async () => {
  const bucket = await make('rights-settings', LOCKABLE)
  const own = 'rights-settings-own'
  await stranger.send(new CreateBucketCommand({ Bucket: own }))
  await put(stranger, own, 'source')
  const ways: ((set: object) => Promise<unknown>)[] = [
    (set) => put(stranger, bucket, 'put', set),
    (set) =>
      stranger.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'parts', ...set })),
    (set) =>
      stranger.send(
        new CopyObjectCommand({
          Bucket: bucket,
          Key: 'copy',
          CopySource: `${own}/source`,
          TaggingDirective: 'REPLACE',
          ...set,
        }),
      ),
  ]
  for (const [action, set] of SETTINGS) {
    await say(bucket, { Action: 's3:PutObject' })
    for (const write of ways) {
      await write({})
      await write({ ACL: 'private' })
      await write({ GrantFullControl: `id=${ergon.account}` })
      await assert.rejects(write(set), DENIED, action)
    }
    await say(bucket, { Action: ['s3:PutObject', action] })
    for (const write of ways) await write(set)
    await put(s3, bucket, 'by the owner', set)
  }
})

type Fields = Readonly<Record<string, string>>

/** The status of a form that the stranger signed with all that it says. */
async function postForm(Bucket: string, more: Fields, headers: Fields = {}): Promise<number> {
  const Conditions = Object.entries(more).map(([name, value]) => ({ [name]: value }))
  const asked = { Bucket, Key: 'form', Fields: more, Conditions }
  const { fields } = await createPresignedPost(stranger, asked)
  const data = new FormData()
  for (const [name, value] of Object.entries(fields)) data.append(name, value)
  data.append('file', new Blob(['text']), 'name.txt')
  const answer = await fetch(`${ergon.baseUrl}/${Bucket}`, { method: 'POST', headers, body: data })
  await answer.arrayBuffer()
  return answer.status
}

test('a form sets what a write by the same caller may', async () => {
  const bucket = await make('rights-form', LOCKABLE)
  const Tagging = (value: string) =>
    `<Tagging><TagSet><Tag><Key>class</Key><Value>${value}</Value></Tag></TagSet></Tagging>`
  const post = (more: Fields) => postForm(bucket, more)
  await say(bucket, { Action: 's3:PutObject' })
  assert.equal(await post({}), 204)
  assert.equal(await post({ tagging: Tagging('open') }), 403)
  assert.equal(await post({ 'x-amz-object-lock-legal-hold': 'ON' }), 403)
  const copied = { StringEquals: { 's3:x-amz-copy-source': 'from/open' } }
  await say(bucket, { Action: 's3:PutObject', Condition: copied })
  assert.equal(await post({ 'x-amz-copy-source': 'from/open' }), 403)
  const Condition = { StringEquals: { 's3:RequestObjectTag/class': 'secret' } }
  await say(
    bucket,
    { Action: ['s3:PutObject', 's3:PutObjectTagging'] },
    { Effect: 'Deny', Action: 's3:PutObject', Condition },
  )
  assert.equal(await post({ tagging: Tagging('secret') }), 403)
  assert.equal(await post({ tagging: Tagging('open + more') }), 204)
  const { TagSet } = await stranger.send(
    new GetObjectTaggingCommand({ Bucket: bucket, Key: 'form' }),
  )
  assert.deepEqual(TagSet, [{ Key: 'class', Value: 'open + more' }])
})

test('who writes by a list says the list and the tags of what is new, and no lock', async () => {
  const bucket = await make('rights-list', LOCKABLE)
  await s3.send(new PutBucketAclCommand({ Bucket: bucket, GrantWrite: `id=${account}` }))
  for (const [action, set] of SETTINGS) {
    const write = put(stranger, bucket, 'k', set)
    if (/Acl|Tagging/.test(action)) await write
    else await assert.rejects(write, DENIED, action)
  }
})

test('conditions on tags and locks are of what the document sets', async () => {
  const bucket = await make('rights-documents', LOCKABLE)
  await put(s3, bucket, 'k')
  // The stranger may, and what the headers of this request say is of no account.
  await say(
    bucket,
    {
      Action: 's3:PutObjectTagging',
      Condition: { StringEquals: { 's3:RequestObjectTag/class': 'open' } },
    },
    {
      Action: 's3:PutObjectRetention',
      Condition: {
        NumericLessThanEquals: { 's3:object-lock-remaining-retention-days': '10' },
        StringEquals: { 's3:object-lock-mode': 'GOVERNANCE' },
      },
    },
    {
      Action: 's3:PutObjectLegalHold',
      Condition: { StringEquals: { 's3:object-lock-legal-hold': 'OFF' } },
    },
  )
  const dayOf = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString()
  const tags = (value: string) =>
    `<Tagging><TagSet><Tag><Key>class</Key><Value>${value}</Value></Tag></TagSet></Tagging>`
  const retention = (mode: string, days: number) =>
    `<Retention><Mode>${mode}</Mode><RetainUntilDate>${dayOf(days)}</RetainUntilDate></Retention>`
  const hold = (status: string) => `<LegalHold><Status>${status}</Status></LegalHold>`
  const forged = {
    'x-amz-tagging': 'class=open',
    'x-amz-object-lock-mode': 'GOVERNANCE',
    'x-amz-object-lock-retain-until-date': dayOf(5),
    'x-amz-object-lock-legal-hold': 'OFF',
  }
  const set = async (what: string, document: string, headers = {}) =>
    (await ask('PUT', `/${bucket}/k?${what}`, headers, document)).status
  for (const headers of [{}, forged]) {
    assert.equal(await set('tagging', tags('secret'), headers), 403)
    assert.equal(await set('retention', retention('GOVERNANCE', 100), headers), 403)
    assert.equal(await set('retention', retention('COMPLIANCE', 5), headers), 403)
    assert.equal(await set('retention', '<Retention/>', headers), 403)
    assert.equal(await set('legal-hold', hold('ON'), headers), 403)
  }
  // Who may not at all is not read to the end.
  const strange = await fetch(`${ergon.baseUrl}/${bucket}/k?tagging`, { method: 'PUT', body: '<' })
  assert.equal(strange.status, 403)
  assert.equal(await set('tagging', tags('open')), 200)
  assert.equal(await set('retention', retention('GOVERNANCE', 5)), 200)
  assert.equal(await set('legal-hold', hold('OFF')), 200)
})

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

test('attributes are told to who may read the object', async () => {
  const bucket = await make('rights-attributes')
  const { VersionId } = await put(s3, bucket, 'k')
  const read = () =>
    stranger.send(
      new GetObjectAttributesCommand({
        Bucket: bucket,
        Key: 'k',
        VersionId,
        ObjectAttributes: ['ETag', 'Checksum'],
      }),
    )
  await say(bucket, { Action: 's3:GetObjectAttributes' })
  await assert.rejects(read(), DENIED)
  await say(bucket, { Action: ['s3:GetObjectAttributes', 's3:GetObject'] })
  await read()
})

test('annotations of what another account put and kept are not told to the owner of the bucket', async () => {
  const bucket = await make('rights-foreign', LOCKABLE)
  await say(bucket, { Action: ['s3:PutObject', 's3:PutObjectAnnotation'] })
  const Key = 'k'
  const { VersionId } = await put(stranger, bucket, Key)
  const named = { Bucket: bucket, Key, AnnotationName: 'note' }
  const AnnotationPayload = Buffer.from('secret')
  await stranger.send(new PutObjectAnnotationCommand({ ...named, AnnotationPayload }))
  await assert.rejects(s3.send(new GetObjectCommand({ Bucket: bucket, Key })), DENIED)
  await assert.rejects(s3.send(new GetObjectAnnotationCommand(named)), DENIED)
  const listing = new ListObjectAnnotationsCommand({ Bucket: bucket, Key })
  await assert.rejects(s3.send(listing), DENIED)
  // It is the owner's to lock and to delete.
  const LegalHold = { Status: 'OFF' } as const
  await s3.send(new PutObjectLegalHoldCommand({ Bucket: bucket, Key, LegalHold }))
  await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key, VersionId }))
})

test('a copy has the tags of its source for who may read them there and write them here', async () => {
  const [from, to] = [await make('rights-copied'), await make('rights-copy')]
  await put(s3, from, 'tagged', { Tagging: 'class=secret' })
  await put(s3, from, 'plain')
  const copy = (key: string, more: object = {}) =>
    stranger.send(
      new CopyObjectCommand({ Bucket: to, Key: key, CopySource: `${from}/${key}`, ...more }),
    )
  const reads = ['s3:GetObject', 's3:GetObjectTagging']
  const writes = ['s3:PutObject', 's3:PutObjectTagging']
  const some = ([first = '']: readonly string[]) => first
  for (const [read, write] of [
    [some(reads), writes],
    [reads, some(writes)],
  ] as const) {
    await say(from, { Action: read })
    await say(to, { Action: write })
    await copy('plain')
    await assert.rejects(copy('tagged'), DENIED)
    await copy('tagged', { TaggingDirective: 'REPLACE' })
  }
  // They are judged as if the request named them, and what it names is not.
  const Condition = { StringEquals: { 's3:RequestObjectTag/class': 'secret' } }
  await say(from, { Action: reads })
  await say(to, { Action: writes }, { Effect: 'Deny', Action: 's3:PutObject', Condition })
  await assert.rejects(copy('tagged'), DENIED)
  await assert.rejects(copy('tagged', { Tagging: 'class=open' }), DENIED)
  await say(to, { Action: writes })
  await copy('tagged')
  const { TagSet } = await s3.send(new GetObjectTaggingCommand({ Bucket: to, Key: 'tagged' }))
  assert.deepEqual(TagSet, [{ Key: 'class', Value: 'secret' }])
  await s3.send(new CopyObjectCommand({ Bucket: to, Key: 'k', CopySource: `${from}/tagged` }))
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
