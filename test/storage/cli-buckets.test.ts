// Buckets from the command line: made, listed with their versions, emptied and removed; and what is said of it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  UploadPartCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { removeVersions } from '#cli/storage/removal.ts'
import { versionPagesOf, type ListedVersion } from '#cli/storage/versions.ts'
import { product, sharedErgon } from '../product.ts'
import { s3ClientOf } from '../s3-client.ts'
import { withClient } from './client.ts'
import { createCli, sessionOf } from './cli-runs.ts'
import { STORAGE } from '../settings.ts'

product(STORAGE)

const cli = createCli()
const { run, done, json } = cli
let s3: S3Client
withClient((opened) => ({ s3 } = opened))
after(() => cli.close())

const put = (Bucket: string, Key: string) =>
  s3.send(new PutObjectCommand({ Bucket, Key, Body: Key }))

/** The commands that rb proposes, without the second proposal. */
async function adviceOf(bucket: string): Promise<string[]> {
  const { code, stderr } = await run(['rb', bucket])
  assert.equal(code, 1)
  const [, next = ''] = /BucketNotEmpty[\s\S]*try: ergon storage ([^,]+),/.exec(stderr) ?? []
  assert.notEqual(next, '', stderr)
  return next.split(' ')
}

async function versionedBucket(Bucket: string): Promise<void> {
  await s3.send(new CreateBucketCommand({ Bucket }))
  const VersioningConfiguration = { Status: 'Enabled' } as const
  await s3.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }))
  for (const key of ['a', 'a', 'a b', 'deep/ü', 'deep/ü']) await put(Bucket, key)
  await s3.send(new DeleteObjectCommand({ Bucket, Key: 'a' }))
}

test('rb removes a bucket whose uploads are open', async () => {
  const Bucket = 'storage-cli-uploads'
  await s3.send(new CreateBucketCommand({ Bucket }))
  const begun = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'open' }))
  await s3.send(
    new UploadPartCommand({
      Bucket,
      Key: 'open',
      UploadId: begun.UploadId,
      PartNumber: 1,
      Body: 'x',
    }),
  )
  await done('rb', Bucket)
  await assert.rejects(s3.send(new HeadBucketCommand({ Bucket })), { name: 'NotFound' })
})

test('the proposal of rb empties the bucket, with and without versions', async () => {
  const plain = 'storage-cli-plain'
  await s3.send(new CreateBucketCommand({ Bucket: plain }))
  await put(plain, 'a')
  const objects = await adviceOf(plain)
  assert.deepEqual(objects, ['rm', '--recursive', `s3://${plain}`])
  await done(...objects)
  await s3.send(new DeleteBucketCommand({ Bucket: plain }))

  const kept = 'storage-cli-kept'
  await versionedBucket(kept)
  const versions = await adviceOf(kept)
  assert.deepEqual(versions, ['rm', '--recursive', '--versions', `s3://${kept}`])
  const removed = await json<{ versions: number; delete_markers: number }>(...versions)
  assert.deepEqual([removed.versions, removed.delete_markers], [5, 1])
  await s3.send(new DeleteBucketCommand({ Bucket: kept }))
})

type Listing = {
  prefixes: string[]
  versions: { key: string; version_id: string; is_latest: boolean; delete_marker: boolean }[]
}

test('ls --versions shows versions and delete markers, rm --versions removes those of one key', async () => {
  const bucket = 'storage-cli-versions'
  await versionedBucket(bucket)
  const { prefixes, versions } = await json<Listing>('ls', '--versions', `s3://${bucket}`)
  assert.deepEqual(prefixes, ['deep/'])
  assert.deepEqual(
    versions.map(({ key, is_latest: latest, delete_marker: marker }) => [key, latest, marker]),
    [
      ['a', true, true],
      ['a', false, false],
      ['a', false, false],
      ['a b', true, false],
    ],
  )
  assert.equal(new Set(versions.map(({ version_id: id }) => id)).size, 4)
  const text = (await done('ls', '--versions', '--recursive', `s3://${bucket}`)).stdout
  assert.match(text, /^\S+Z +delete marker {2}[0-9a-f]{32} {2}a$/m)
  assert.equal(text.match(/^\S+Z +7 {2}[0-9a-f]{32} {2}deep\/ü$/gm)?.length, 2)

  const one = await json<{ versions: number }>('rm', '--versions', `s3://${bucket}/a`)
  assert.equal(one.versions, 2)
  const left = await json<Listing>('ls', '--versions', '--recursive', `s3://${bucket}`)
  assert.deepEqual(
    left.versions.map(({ key }) => key),
    ['a b', 'deep/ü', 'deep/ü'],
  )
})

test('rb --force removes everything and the bucket, and says how much', async () => {
  const bucket = 'storage-cli-forced'
  await versionedBucket(bucket)
  const forced = await done('rb', '--force', bucket)
  assert.match(
    forced.stderr,
    /removed 5 versions and 1 delete marker, and s3:\/\/storage-cli-forced/,
  )
  await assert.rejects(s3.send(new HeadBucketCommand({ Bucket: bucket })), { name: 'NotFound' })
})

test('pages of versions follow each other without a gap, and through removals', async () => {
  const bucket = 'storage-cli-pages'
  await versionedBucket(bucket)
  const small = s3ClientOf(sharedErgon())
  small.middlewareStack.add(
    (next) => (args) => next({ ...args, input: { ...args.input, MaxKeys: 2 } }),
    { step: 'initialize' },
  )
  const session = sessionOf(small)
  const found: ListedVersion[] = []
  const place = { kind: 'object', bucket, key: '' } as const
  for await (const { versions } of versionPagesOf(session, place)) {
    assert.ok(versions.length <= 2)
    found.push(...versions)
  }
  assert.deepEqual(
    found.map(({ key }) => key),
    ['a', 'a', 'a', 'a b', 'deep/ü', 'deep/ü'],
  )
  const removed = await removeVersions(session, { place, recursive: true })
  assert.deepEqual(removed, { versions: 5, delete_markers: 1 })

  const plain = 'storage-cli-plain-pages'
  await done('create', plain)
  const keys = ['1', '2', '3', '4', '5']
  for (const key of keys) await put(plain, key)
  const listed: string[] = []
  for await (const { versions } of versionPagesOf(session, { ...place, bucket: plain }))
    listed.push(...versions.map(({ key }) => key))
  assert.deepEqual(listed, keys)
  small.destroy()
})

test('create says where the bucket is, and which regions there are for one that is not', async () => {
  const bucket = 'storage-cli-region'
  for (const more of [['--region', 'local'], ['--region', 'auto'], []]) {
    const made = await done('create', bucket, ...more)
    assert.match(made.stderr, /^s3:\/\/storage-cli-region is yours, in region local$/m)
  }
  const again = await json<{ region: string }>('create', bucket)
  assert.equal(again.region, 'local')
  const elsewhere = await run(['create', bucket, '--region', 'us-1'])
  assert.equal(elsewhere.code, 1)
  assert.match(
    elsewhere.stderr,
    /the regions of this service are local.*\(InvalidLocationConstraint/,
  )
})

test('create takes a 409 for its own bucket as the service that has it', async (t) => {
  const service = createServer(({ method }, response) => {
    const code = 'BucketAlreadyOwnedByYou'
    if (method === 'PUT') response.writeHead(409).end(`<Error><Code>${code}</Code></Error>`)
    else response.writeHead(200, { 'x-amz-bucket-region': 'moon-1' }).end()
  })
  t.after(() => service.close())
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const create = (region: string) => run(['create', 'b', '--region', region, '--base-url', url])
  assert.equal((await create('moon-1')).code, 0)
  const elsewhere = await create('us-1')
  assert.equal(elsewhere.code, 1)
  assert.match(elsewhere.stderr, /s3:\/\/b is yours already, in region moon-1/)
})

test('a bucket that is not there is neither counted nor proposed to be made', async () => {
  for (const words of [
    ['rb', 'storage-cli-nowhere'],
    ['rm', 's3://storage-cli-nowhere/key'],
    ['cp', 's3://storage-cli-nowhere/key', 's3://storage-cli-region/key'],
  ]) {
    const { code, stderr } = await run(words)
    assert.equal(code, 1, words.join(' '))
    assert.match(stderr, /NoSuchBucket[\s\S]*try: ergon storage ls$/m)
  }
  const near = await run(['ls', 's3://storage-cli-regoin'])
  assert.match(near.stderr, /\(NoSuchBucket\); did you mean "storage-cli-region"\?$/m)
  const plain = await done('rm', 's3://storage-cli-region/absent')
  assert.match(plain.stderr, /^nothing is at s3:\/\/storage-cli-region\/absent now, /m)
  const hidden = await done('rm', 's3://storage-cli-versions/a b')
  assert.match(hidden.stderr, /^a delete marker hides s3:\/\/storage-cli-versions\/a b, /m)
})
