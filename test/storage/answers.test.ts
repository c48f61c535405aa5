// AWS's answers to requests for absent resources and to malformed requests: codes and statuses, by its SDK.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  CompleteMultipartUploadCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketAclCommand,
  GetBucketLocationCommand,
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  ListObjectVersionsCommand,
  PutBucketAclCommand,
  PutBucketPolicyCommand,
  PutBucketTaggingCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectLegalHoldCommand,
  PutObjectTaggingCommand,
  S3Client,
  UploadPartCommand,
  type BucketLocationConstraint,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { Ergon } from '../start-ergon.ts'
import { NOWHERE, withClient } from './client.ts'
import { product } from '../product.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const Bucket = 'storage-answers'
const LOCKED = 'storage-answers-locked'
const WITH_ACLS = 'storage-answers-acls'

let ergon: Ergon
let s3: S3Client
withClient(
  (opened) => ({ ergon, s3 } = opened),
  { Bucket },
  { Bucket: LOCKED, ObjectLockEnabledForBucket: true },
  { Bucket: WITH_ACLS, ObjectOwnership: 'ObjectWriter' },
)

const put = (Key: string, bucket = Bucket) =>
  s3.send(new PutObjectCommand({ Bucket: bucket, Key, Body: 'text' }))

/** The refusal's error. The answer to a HEAD has no name. */
async function refused(name: string, status: number, asked: Promise<unknown>): Promise<string> {
  let said = ''
  await assert.rejects(asked, (error: Error & { $metadata: { httpStatusCode?: number } }) => {
    assert.deepEqual([error.name, error.$metadata.httpStatusCode], [name, status], error.message)
    said = error.message
    return true
  })
  return said
}

test('a policy that names an account that there is not is refused', async () => {
  const policy = (AWS: string | readonly string[]) => {
    const Statement = [
      { Effect: 'Deny', Principal: { AWS }, Action: 's3:*', Resource: `arn:aws:s3:::${Bucket}/*` },
    ]
    return s3.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Statement }) }))
  }
  const { account } = ergon
  const mistyped = `${account.slice(0, -1)}${account.endsWith('0') ? '1' : '0'}`
  for (const names of ['nobdy', mistyped, `arn:aws:iam::${mistyped}:root`, [account, 'nobdy']])
    assert.match(await refused('MalformedPolicy', 400, policy(names)), /Invalid principal/)
  // A tenant of another cloud, as Ceph's suite writes.
  await policy('arn:aws:iam::s3tenant1:root')
})

test('a policy that names an action that there is not is refused', async () => {
  const policy = (Action: string | readonly string[], more: object = {}) => {
    const Resource = [`arn:aws:s3:::${Bucket}`, `arn:aws:s3:::${Bucket}/*`]
    const Statement = [{ Effect: 'Deny', Principal: { AWS: 'nobody' }, Action, Resource, ...more }]
    return s3.send(new PutBucketPolicyCommand({ Bucket, Policy: JSON.stringify({ Statement }) }))
  }
  for (const action of ['s3:GetObjekt', 's3:GetObjekt*', 's3:', 's3:Get Object', 's3:?'])
    for (const actions of [action, ['s3:GetObject', action]])
      assert.match(await refused('MalformedPolicy', 400, policy(actions)), /invalid action/)
  await refused(
    'MalformedPolicy',
    400,
    policy([], { Action: undefined, NotAction: 's3:GetObjekt' }),
  )
  // In any case, by a pattern, and of AWS where no request here has it.
  for (const action of ['S3:getobject', 's3:*', 's3:Get*Tag?ing', '*', 's3:ReplicateObject'])
    await policy(action)
})

test("a bucket of one's own is made again after its ACL was put", async () => {
  const again = () => s3.send(new CreateBucketCommand({ Bucket: WITH_ACLS }))
  await again()
  await s3.send(new PutBucketAclCommand({ Bucket: WITH_ACLS, GrantRead: `id=${ergon.account}` }))
  await again()
  const { Grants } = await s3.send(new GetBucketAclCommand({ Bucket: WITH_ACLS }))
  assert.deepEqual(
    Grants?.map(({ Permission }) => Permission),
    ['READ'],
  )
  const otherwise = new CreateBucketCommand({
    Bucket: WITH_ACLS,
    ObjectOwnership: 'ObjectWriter',
    ACL: 'public-read',
  })
  await refused('BucketAlreadyExists', 409, s3.send(otherwise))
})

test('an ACL is said by headers or by a document', async () => {
  const owner = { ID: ergon.account }
  const Grantee = { Type: 'CanonicalUser', ...owner } as const
  const AccessControlPolicy = { Owner: owner, Grants: [{ Grantee, Permission: 'READ' as const }] }
  const place = { Bucket: WITH_ACLS, Key: 'listed' }
  await put(place.Key, WITH_ACLS)
  for (const more of [{ ACL: 'private' as const }, { GrantRead: `id=${ergon.account}` }]) {
    const both = { AccessControlPolicy, ...more }
    const ofObject = new PutObjectAclCommand({ ...place, ...both })
    const ofBucket = new PutBucketAclCommand({ Bucket: WITH_ACLS, ...both })
    await refused('UnexpectedContent', 400, s3.send(ofObject))
    await refused('UnexpectedContent', 400, s3.send(ofBucket))
  }
  await s3.send(new PutObjectAclCommand({ ...place, AccessControlPolicy }))
})

test('a version id that can be none is malformed, and one that is not there is absent', async () => {
  await put('versioned', LOCKED)
  const place = { Bucket: LOCKED, Key: 'versioned' }
  for (const VersionId of ['none', '', '0'.repeat(31), `8${'0'.repeat(31)}`, 'NULL']) {
    const of = { ...place, VersionId }
    await refused('InvalidArgument', 400, s3.send(new GetObjectCommand(of)))
    await refused('InvalidArgument', 400, s3.send(new GetObjectTaggingCommand(of)))
    await refused('InvalidArgument', 400, s3.send(new DeleteObjectCommand(of)))
  }
  await refused('Unknown', 400, s3.send(new HeadObjectCommand({ ...place, VersionId: 'none' })))
  await refused(
    'NoSuchVersion',
    404,
    s3.send(new GetObjectCommand({ ...place, VersionId: NOWHERE })),
  )
  const marked = { Bucket: LOCKED, KeyMarker: 'v', VersionIdMarker: 'none' }
  await refused('InvalidArgument', 400, s3.send(new ListObjectVersionsCommand(marked)))
  const Objects = [
    { Key: 'versioned', VersionId: 'none' },
    { Key: 'other', VersionId: NOWHERE },
  ]
  const many = await s3.send(new DeleteObjectsCommand({ Bucket: LOCKED, Delete: { Objects } }))
  assert.deepEqual(
    [many.Errors?.map(({ Key, Code }) => [Key, Code]), many.Deleted?.map(({ Key }) => Key)],
    [[['versioned', 'InvalidArgument']], ['other']],
  )
})

test('a part has no range, and a part that is not there is 416', async () => {
  await put('parted')
  const place = { Bucket, Key: 'parted' }
  const both = { ...place, PartNumber: 1, Range: 'bytes=0-1' }
  await refused('InvalidRequest', 400, s3.send(new GetObjectCommand(both)))
  await refused('Unknown', 400, s3.send(new HeadObjectCommand(both)))
  const beyond = { ...place, PartNumber: 2 }
  await refused('InvalidPartNumber', 416, s3.send(new GetObjectCommand(beyond)))
  await refused('Unknown', 416, s3.send(new HeadObjectCommand(beyond)))
  const { Body } = await s3.send(new GetObjectCommand({ ...place, PartNumber: 1 }))
  assert.equal(await Body?.transformToString(), 'text')
})

test('a completion names the checksums of the parts where they make that of the whole', async () => {
  const place = { Bucket, Key: 'composite' }
  const begin = new CreateMultipartUploadCommand({ ...place, ChecksumAlgorithm: 'SHA256' })
  const { UploadId } = await s3.send(begin)
  const part = { ...place, UploadId, PartNumber: 1 }
  const { ETag, ChecksumSHA256 } = await s3.send(
    new UploadPartCommand({ ...part, Body: 'text', ChecksumAlgorithm: 'SHA256' }),
  )
  const complete = (Part: object) =>
    s3.send(
      new CompleteMultipartUploadCommand({
        ...place,
        UploadId,
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag, ...Part }] },
      }),
    )
  const said = await refused('InvalidRequest', 400, complete({}))
  assert.match(said, /created using a sha256 checksum.*missing for part 1/)
  assert.match((await complete({ ChecksumSHA256 })).ChecksumSHA256 ?? '', /-1$/)
})

test('HEAD tells of the checksum that a client has sent, and of none that nobody asked for', async () => {
  const silent = new S3Client({
    endpoint: ergon.baseUrl,
    region: 'local',
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    credentials: { accessKeyId: ergon.token, secretAccessKey: ergon.token },
  })
  const place = { Bucket, Key: 'silent' }
  const told = async () => {
    const head = await silent.send(new HeadObjectCommand({ ...place, ChecksumMode: 'ENABLED' }))
    return [head.ChecksumCRC32, head.ChecksumCRC64NVME, head.ChecksumType]
  }
  await silent.send(new PutObjectCommand({ ...place, Body: 'text' }))
  assert.deepEqual(await told(), [undefined, undefined, undefined])
  await silent.send(new PutObjectCommand({ ...place, Body: 'text', ChecksumAlgorithm: 'CRC32' }))
  assert.deepEqual(await told(), ['O4unxw==', undefined, 'FULL_OBJECT'])
  // The completion may give the checksum of the whole, so parts are summed.
  const { UploadId } = await silent.send(new CreateMultipartUploadCommand(place))
  const part = { ...place, UploadId, PartNumber: 1, Body: 'text' }
  const { ETag, ChecksumCRC64NVME } = await silent.send(new UploadPartCommand(part))
  const complete = (whole?: string) =>
    silent.send(
      new CompleteMultipartUploadCommand({
        ...place,
        UploadId,
        ChecksumCRC64NVME: whole,
        MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] },
      }),
    )
  await refused('BadDigest', 400, complete('AAAAAAAAAAA='))
  await complete(ChecksumCRC64NVME)
  assert.deepEqual(await told(), [undefined, ChecksumCRC64NVME, 'FULL_OBJECT'])
  silent.destroy()
})

test('a legal hold that was never set is 404, and one that was is told', async () => {
  const place = { Bucket: LOCKED, Key: 'held' }
  await put(place.Key, LOCKED)
  const read = () => s3.send(new GetObjectLegalHoldCommand(place))
  await refused('NoSuchObjectLockConfiguration', 404, read())
  for (const Status of ['ON', 'OFF'] as const) {
    await s3.send(new PutObjectLegalHoldCommand({ ...place, LegalHold: { Status } }))
    assert.equal((await read()).LegalHold?.Status, Status)
  }
  const asked = { ...place, ObjectLockLegalHoldStatus: 'OFF', Body: 'text' } as const
  await s3.send(new PutObjectCommand(asked))
  assert.equal((await read()).LegalHold?.Status, 'OFF')
})

test('more tags than there may be are a BadRequest', async () => {
  const tags = (count: number) =>
    Array.from({ length: count }, (_, at) => ({ Key: `k${at}`, Value: 'v' }))
  const place = { Bucket, Key: 'tagged' }
  await put(place.Key)
  const ofObject = { ...place, Tagging: { TagSet: tags(11) } }
  await refused('BadRequest', 400, s3.send(new PutObjectTaggingCommand(ofObject)))
  const Tagging = tags(11)
    .map(({ Key, Value }) => `${Key}=${Value}`)
    .join('&')
  await refused(
    'BadRequest',
    400,
    s3.send(new PutObjectCommand({ ...place, Tagging, Body: 'text' })),
  )
  const ofBucket = { Bucket, Tagging: { TagSet: tags(51) } }
  await refused('BadRequest', 400, s3.send(new PutBucketTaggingCommand(ofBucket)))
  await s3.send(new PutObjectTaggingCommand({ ...place, Tagging: { TagSet: tags(10) } }))
})

test('an address for more than seven days is refused', async () => {
  const place = new GetObjectCommand({ Bucket, Key: 'tagged' })
  const week = 604_800
  assert.equal((await fetch(await getSignedUrl(s3, place, { expiresIn: week }))).status, 200)
  // The SDK makes none that is longer.
  const url = (await getSignedUrl(s3, place, { expiresIn: week })).replace(`${week}`, `${week + 1}`)
  const answer = await fetch(url)
  assert.equal(answer.status, 400)
  assert.match(
    await answer.text(),
    /<Code>AuthorizationQueryParametersError<.*must be less than a week/,
  )
})

test('a bucket is made in a region that there is', async () => {
  const own = (region: string) =>
    new S3Client({
      endpoint: ergon.baseUrl,
      region,
      forcePathStyle: true,
      credentials: { accessKeyId: ergon.token, secretAccessKey: ergon.token },
    })
  // The SDK names its own region, except the one that at AWS no constraint names.
  for (const region of ['local', 'us-east-1', 'auto']) {
    const client = own(region)
    const bucket = `storage-answers-in-${region}`
    await client.send(new CreateBucketCommand({ Bucket: bucket }))
    const { LocationConstraint } = await s3.send(new GetBucketLocationCommand({ Bucket: bucket }))
    assert.equal(LocationConstraint, 'local')
    client.destroy()
  }
  const far = own('eu-west-1')
  const asked = far.send(new CreateBucketCommand({ Bucket: 'storage-answers-far' }))
  const said = await refused('InvalidLocationConstraint', 400, asked)
  assert.match(said, /the regions of this service are local/)
  far.destroy()
  const LocationConstraint = 'moon-1' as BucketLocationConstraint
  const again = { Bucket, CreateBucketConfiguration: { LocationConstraint } }
  await refused('InvalidLocationConstraint', 400, s3.send(new CreateBucketCommand(again)))
})
