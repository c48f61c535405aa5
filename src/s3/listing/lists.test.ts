// Lists as the AWS SDK reads them back: our XML goes through its deserializer.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import {
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  ListPartsCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import {
  attributesPage,
  bucketsQuery,
  objectsQuery,
  objectsV2Query,
  partsQuery,
  uploadsQuery,
  versionsQuery,
  writeToken,
} from './parameters.ts'
import type { ListedObject } from '#objects/objects.ts'
import { bucketsXml, objectsV2Xml, objectsXml, partsXml, uploadsXml, versionsXml } from './xml.ts'

function client(xml: string): S3Client {
  return new S3Client({
    region: 'local',
    endpoint: 'http://localhost:9',
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    requestHandler: {
      handle: async () => ({
        response: {
          statusCode: 200,
          headers: { 'content-type': 'application/xml' },
          body: Readable.from([Buffer.from(xml)]),
        },
      }),
    },
  })
}

const OWNER = { id: 'acct_1', displayName: 'Zoë <z@x>' }
const TIME_MS = Date.UTC(2026, 10, 21, 9, 30, 0, 120)
const ownerOf = (id: string) => ({ ...OWNER, id })
const object = (key: string, owner = OWNER.id): ListedObject => ({
  key,
  modifiedAtMs: TIME_MS,
  etag: 'e',
  size: 3,
  traits: { storageClass: 'STANDARD', owner, checksum: undefined },
})
const Bucket = 'b'
const parameters = (text: string) => new Map(new URLSearchParams(text))

test('ListObjects gives keys, prefixes and where to go on', async () => {
  const query = objectsQuery(parameters('prefix=a&delimiter=/&max-keys=2&marker=a0'))
  const page = { bucket: 'b', entries: [object('a& b')], prefixes: ['ab/'], next: 'ab/' }
  const read = await client(objectsXml(page, query, ownerOf)).send(
    new ListObjectsCommand({ Bucket }),
  )
  assert.equal(read.NextMarker, 'ab/')
  assert.equal(read.IsTruncated, true)
  assert.equal(read.MaxKeys, 2)
  assert.deepEqual(read.CommonPrefixes, [{ Prefix: 'ab/' }])
  const [first] = read.Contents ?? []
  assert.equal(first?.Key, 'a& b')
  assert.equal(first?.ETag, '"e"')
  assert.equal(first?.LastModified?.getTime(), TIME_MS)
  assert.deepEqual(first?.Owner, { ID: 'acct_1', DisplayName: 'Zoë <z@x>' })
})

test('ListObjectsV2 gives a token that goes on after the last name', async () => {
  const query = objectsV2Query(parameters('delimiter=/&encoding-type=url&start-after=a'))
  const page = { bucket: 'b', entries: [object('a b+')], prefixes: ['é/'], next: 'é/' }
  const xml = objectsV2Xml(page, query, ownerOf)
  const read = await client(xml).send(new ListObjectsV2Command({ Bucket }))
  assert.equal(read.Contents?.[0]?.Key, 'a%20b%2B')
  assert.equal(read.CommonPrefixes?.[0]?.Prefix, '%C3%A9/')
  assert.equal(read.KeyCount, 2)
  const token = read.NextContinuationToken ?? ''
  const next = objectsV2Query(parameters(`continuation-token=${token}&start-after=a`))
  assert.deepEqual([next.after, next.startAfter, next.continuationToken], ['é/', 'a', token])
})

test('a list gives each object its own storage class, checksum and owner, and an owner only on demand', async () => {
  const checksum = { algorithm: 'CRC32', type: 'COMPOSITE' }
  const [a, b] = [object('a'), object('b', 'acct_2')]
  const entries = [
    a,
    { ...object('c'), traits: a.traits },
    { ...b, traits: { ...b.traits, storageClass: 'GLACIER', checksum } },
    object('d'),
  ]
  const page = { bucket: 'b', entries, prefixes: [], next: undefined }
  const read = async (text: string) => {
    const xml = objectsV2Xml(page, objectsV2Query(parameters(text)), ownerOf)
    const { Contents = [] } = await client(xml).send(new ListObjectsV2Command({ Bucket }))
    return Contents.map((one) => [
      one.Key,
      one.StorageClass,
      one.ChecksumAlgorithm?.[0],
      one.ChecksumType,
      one.Owner?.ID,
    ])
  }
  const plain = (key: string) => [key, 'STANDARD', undefined, undefined, 'acct_1']
  const owned = [
    plain('a'),
    plain('c'),
    ['b', 'GLACIER', 'CRC32', 'COMPOSITE', 'acct_2'],
    plain('d'),
  ]
  assert.deepEqual(await read('fetch-owner=true'), owned)
  assert.deepEqual(
    await read(''),
    owned.map((one) => [...one.slice(0, 4), undefined]),
  )
})

test('a page of versions goes on after each marker that a page has', () => {
  for (const marker of ['null', 'null.000000000001bd7d', `0${'a'.repeat(31)}`])
    assert.equal(
      versionsQuery(parameters(`key-marker=a&version-id-marker=${marker}`)).versionIdMarker,
      marker,
    )
})

test('ListObjectVersions tells versions and delete markers apart', async () => {
  const version = { ...object('a'), versionId: 'v', isLatest: true, deleteMarker: false }
  const checksum = { algorithm: 'CRC32', type: 'COMPOSITE' }
  const traits = { ...version.traits, storageClass: 'GLACIER', owner: 'acct_2', checksum }
  const page = {
    bucket: 'b',
    entries: [
      version,
      { ...version, key: 'b& c', isLatest: false, versionId: 'w', traits },
      { ...version, key: 'm', isLatest: false, deleteMarker: true, traits },
    ],
    prefixes: [],
    next: 'm',
    nextVersionId: 'v',
  }
  const xml = versionsXml(page, versionsQuery(parameters('')), ownerOf)
  const read = await client(xml).send(new ListObjectVersionsCommand({ Bucket }))
  const told = (read.Versions ?? []).map((one) => [
    one.Key,
    one.VersionId,
    one.IsLatest,
    one.LastModified?.getTime(),
    one.ETag,
    one.Size,
    one.StorageClass,
    one.ChecksumAlgorithm?.[0],
    one.ChecksumType,
    one.Owner?.ID,
  ])
  assert.deepEqual(told, [
    ['a', 'v', true, TIME_MS, '"e"', 3, 'STANDARD', undefined, undefined, 'acct_1'],
    ['b& c', 'w', false, TIME_MS, '"e"', 3, 'GLACIER', 'CRC32', 'COMPOSITE', 'acct_2'],
  ])
  const [marker] = read.DeleteMarkers ?? []
  assert.deepEqual(
    [marker?.Key, marker?.VersionId, marker?.IsLatest, marker?.LastModified?.getTime()],
    ['m', 'v', false, TIME_MS],
  )
  assert.deepEqual(marker?.Owner, { ID: 'acct_2', DisplayName: OWNER.displayName })
  assert.deepEqual([read.NextKeyMarker, read.NextVersionIdMarker], ['m', 'v'])
})

test('ListMultipartUploads and ListParts give what is under way', async () => {
  const upload = {
    uploadId: 'u',
    initiator: OWNER,
    owner: OWNER,
    storageClass: 'STANDARD',
    checksum: { algorithm: 'CRC32', type: 'COMPOSITE' },
  }
  const page = {
    bucket: 'b',
    entries: [{ ...upload, key: 'k', initiatedMs: TIME_MS }],
    prefixes: [],
    next: undefined,
    nextUploadId: undefined,
  }
  const uploads = await client(uploadsXml(page, uploadsQuery(parameters('')))).send(
    new ListMultipartUploadsCommand({ Bucket }),
  )
  assert.equal(uploads.Uploads?.[0]?.UploadId, 'u')
  assert.equal(uploads.IsTruncated, false)
  const part = { number: 2, modifiedMs: TIME_MS, etag: 'p', bytes: 5 }
  const checksum = { element: 'ChecksumCRC32', text: 'AAAAAA==' }
  const parts = await client(
    partsXml(
      { bucket: 'b', key: 'k', upload, parts: [{ ...part, checksum }], isTruncated: true },
      partsQuery(parameters('part-number-marker=1&max-parts=1')),
    ),
  ).send(new ListPartsCommand({ Bucket, Key: 'k', UploadId: 'u' }))
  assert.equal(parts.Parts?.[0]?.ChecksumCRC32, 'AAAAAA==')
  assert.equal(String(parts.NextPartNumberMarker), '2')
})

test('ListBuckets gives names, times and regions', async () => {
  const buckets = [{ name: 'photos', createdMs: TIME_MS, region: 'local' }]
  const xml = bucketsXml({ owner: OWNER, buckets, prefix: '', next: 'photos' })
  const read = await client(xml).send(new ListBucketsCommand({}))
  assert.equal(read.Buckets?.[0]?.Name, 'photos')
  assert.equal(read.Buckets?.[0]?.BucketRegion, 'local')
  assert.equal(
    bucketsQuery(parameters(`continuation-token=${read.ContinuationToken}`)).after,
    'photos',
  )
})

test('attributesPage() reads the headers of a page as ListParts reads its parameters', () => {
  assert.deepEqual(attributesPage({}), { after: 0, max: 1000 })
  const given = { 'x-amz-part-number-marker': '3', 'x-amz-max-parts': '5000' }
  assert.deepEqual(attributesPage(given), { after: 3, max: 1000 })
  for (const name of ['x-amz-part-number-marker', 'x-amz-max-parts'])
    for (const text of ['abc', '-2', '1.5', '99999999999'])
      assert.throws(() => attributesPage({ [name]: text }), { code: 'InvalidArgument' }, text)
})

test('parameters have bounds and defaults', () => {
  const max = (text: string) => objectsQuery(parameters(`max-keys=${text}`)).max
  assert.deepEqual([max(''), max('0'), max('7'), max('5000')], [1000, 0, 7, 1000])
  const refused = (read: (query: Map<string, string>) => unknown, text: string) =>
    assert.throws(() => read(parameters(text)), { code: 'InvalidArgument' }, text)
  for (const text of ['blah', '-1', '1.5', '99999999999']) refused(objectsQuery, `max-keys=${text}`)
  refused(objectsQuery, 'encoding-type=base64')
  refused(objectsQuery, 'prefix=%00')
  refused(versionsQuery, 'version-id-marker=v')
  refused(versionsQuery, 'key-marker=a&version-id-marker=null.8000000000000000')
  refused(objectsV2Query, 'continuation-token=abc')
  refused(objectsV2Query, `continuation-token=${writeToken('a\0')}`)
  refused(objectsV2Query, `continuation-token=${writeToken('a').slice(0, -2)}zz`)
  assert.equal(objectsV2Query(parameters('continuation-token=')).after, '')
  assert.equal(uploadsQuery(parameters('upload-id-marker=u')).uploadIdMarker, '')
})
