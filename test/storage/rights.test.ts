// A policy's rules on versions, tags, locks and ACLs hold wherever a request names them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectAnnotationCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectAnnotationCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectAnnotationsCommand,
  ListPartsCommand,
  PutBucketAclCommand,
  PutBucketVersioningCommand,
  PutObjectAnnotationCommand,
  PutObjectLegalHoldCommand,
  PutObjectTaggingCommand,
  PutPublicAccessBlockCommand,
  UploadPartCopyCommand,
  type CopyObjectCommandInput,
  type PutObjectCommandInput,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { Ergon } from '../start-ergon.ts'
import { DENIED, LOCK, LOCKABLE, withStranger, type Fields } from './stranger.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

let ergon: Ergon
let s3: S3Client
let stranger: S3Client
let account: string

const { say, make, put, ask, postForm } = withStranger(
  (opened) => ({ ergon, s3, stranger, account } = opened),
)

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

/** Settings that a write makes by headers, and the action that permits each. */
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

test('a writer by a list names the list and the tags of a new object, and no lock', async () => {
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
  // The body of a forbidden caller is not read to the end.
  const strange = await fetch(`${ergon.baseUrl}/${bucket}/k?tagging`, { method: 'PUT', body: '<' })
  assert.equal(strange.status, 403)
  assert.equal(await set('tagging', tags('open')), 200)
  assert.equal(await set('retention', retention('GOVERNANCE', 5)), 200)
  assert.equal(await set('legal-hold', hold('OFF')), 200)
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
  const Tagging = { TagSet: [{ Key: 'class', Value: 'open' }] }
  const tagging = new PutObjectTaggingCommand({ Bucket: bucket, Key, Tagging })
  await assert.rejects(s3.send(tagging), DENIED)
  // They belong to the writer of the object, whatever the policy gives now.
  await say(bucket, { Action: 's3:AbortMultipartUpload' })
  await stranger.send(tagging)
  const { AnnotationPayload: told } = await stranger.send(new GetObjectAnnotationCommand(named))
  assert.equal(await told?.transformToString(), 'secret')
  assert.equal((await stranger.send(listing)).Annotations?.length, 1)
  await stranger.send(new PutObjectAnnotationCommand({ ...named, AnnotationPayload }))
  await stranger.send(new DeleteObjectAnnotationCommand(named))
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

test('a list gives nobody tags, nor the parts of what others upload', async () => {
  const bucket = await make('rights-public', { ObjectOwnership: 'ObjectWriter' })
  const PublicAccessBlockConfiguration = { BlockPublicAcls: false, IgnorePublicAcls: false }
  await s3.send(new PutPublicAccessBlockCommand({ Bucket: bucket, PublicAccessBlockConfiguration }))
  const ACL = 'public-read-write'
  await s3.send(new PutBucketAclCommand({ Bucket: bucket, ACL }))
  await put(s3, bucket, 'k', { ACL, Tagging: 'class=secret' })
  const nobody = async (method: string, query = '', body?: string) => {
    const sent = { method, ...(body && { body }) }
    const answer = await fetch(`${ergon.baseUrl}/${bucket}/k${query}`, sent)
    await answer.arrayBuffer()
    return answer.status
  }
  const tags = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>'
  assert.equal(await nobody('GET'), 200)
  assert.equal(await nobody('GET', '?tagging'), 403)
  assert.equal(await nobody('PUT', '?tagging', tags), 403)
  assert.equal(await nobody('DELETE', '?tagging'), 403)
  const begin = async (client: S3Client) =>
    await client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: 'parts' }))
  const list = async (client: S3Client, { UploadId }: { UploadId?: string | undefined }) =>
    await client.send(new ListPartsCommand({ Bucket: bucket, Key: 'parts', UploadId }))
  const [own, others] = [await begin(stranger), await begin(s3)]
  await list(stranger, own)
  await list(s3, own)
  await assert.rejects(list(stranger, others), DENIED)
  await assert.rejects(list(stranger, { UploadId: 'none' }), DENIED)
})

test('a copy carries no redirect past a policy that denies them', async () => {
  const bucket = await make('rights-redirect')
  const own = 'rights-redirect-own'
  await stranger.send(new CreateBucketCommand({ Bucket: own }))
  const WebsiteRedirectLocation = 'https://elsewhere.example'
  await put(stranger, own, 'source', { WebsiteRedirectLocation })
  const Condition = { Null: { 's3:x-amz-website-redirect-location': 'false' } }
  await say(
    bucket,
    { Action: 's3:PutObject' },
    { Effect: 'Deny', Action: 's3:PutObject', Condition },
  )
  const copy = async (client: S3Client, more: Partial<CopyObjectCommandInput> = {}) => {
    const place = { Bucket: bucket, Key: 'k', CopySource: `${own}/source` }
    await client.send(new CopyObjectCommand({ ...place, ...more }))
    return await s3.send(new HeadObjectCommand({ Bucket: bucket, Key: 'k' }))
  }
  await assert.rejects(put(stranger, bucket, 'k', { WebsiteRedirectLocation }), DENIED)
  await assert.rejects(copy(stranger, { WebsiteRedirectLocation }), DENIED)
  assert.equal((await copy(stranger)).WebsiteRedirectLocation, undefined)
  // Of an object onto itself it is a change.
  const itself = { CopySource: `${bucket}/k`, WebsiteRedirectLocation: '/index.html' }
  assert.equal((await copy(s3, itself)).WebsiteRedirectLocation, '/index.html')
})

test('a copy says whose the bucket is that it reads, and whose the one that it writes', async () => {
  const [from, to] = [await make('rights-source'), await make('rights-target')]
  await put(s3, from, 'k')
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket: to, Key: 'k' }))
  const place = { Bucket: to, Key: 'k', CopySource: `${from}/k` }
  const copies = [
    (said: object) => s3.send(new CopyObjectCommand({ ...place, ...said })),
    (said: object) =>
      s3.send(new UploadPartCopyCommand({ ...place, UploadId, PartNumber: 1, ...said })),
  ]
  for (const copy of copies) {
    await copy({ ExpectedSourceBucketOwner: ergon.account, ExpectedBucketOwner: ergon.account })
    await assert.rejects(copy({ ExpectedSourceBucketOwner: account }), DENIED)
    await assert.rejects(copy({ ExpectedBucketOwner: account }), DENIED)
  }
  // Each header is of one of the two, though they are of one account or of two.
  const other = 'rights-target-other'
  await stranger.send(new CreateBucketCommand({ Bucket: other }))
  await say(from, { Action: 's3:GetObject' })
  const said = { ExpectedSourceBucketOwner: ergon.account, ExpectedBucketOwner: account }
  await stranger.send(new CopyObjectCommand({ ...place, Bucket: other, ...said }))
})
