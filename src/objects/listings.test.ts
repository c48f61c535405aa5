// Pages of objects and versions. model.test.ts compares them with a model.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { present } from '#base/errors.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { ListQuery } from './objects.ts'
import {
  inlineObject,
  makeBucket,
  OTHER,
  readVersion,
  refused,
  type Store,
  withStore,
} from './store.fixture.ts'
import type { Attributes, Version } from './types.ts'

const skip = whyNoState()
const LIST = { prefix: '', delimiter: '', after: '', limit: 1000 }
let store: Store
withStore(8, (opened) => (store = opened))

test(
  'a page keeps to its prefix where the database orders texts by a language',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'prefixes')
    for (const name of ['Secret/plan', 'Xtra', 'public/cat', '\u{10FFFF}'.repeat(256)])
      await store.objects.put(bucket, name, inlineObject(name))
    const listed = async (asked: Partial<ListQuery>) => {
      const page = await store.listings.objects(bucket, { ...LIST, ...asked })
      return page.entries.map((entry) => entry.key.slice(0, 11))
    }
    for (const delimiter of ['', '/', 'a'])
      assert.deepEqual(
        await listed({ prefix: 'public/', after: 'R', delimiter }),
        delimiter === 'a' ? [] : ['public/cat'],
      )
    assert.deepEqual(await listed({ after: 'Y' }), [
      'public/cat',
      '\u{10FFFF}'.repeat(5) + '\u{DBFF}',
    ])
  },
)

test('listings tell of each object what find() tells', { skip }, async () => {
  const bucket = await makeBucket(store, 'told-alike')
  await store.buckets.setVersioning(bucket, 'enabled')
  const others: readonly Partial<Attributes>[] = [
    { checksums: { type: 'FULL_OBJECT', CRC64NVME: 'AAAAAAAAAAA=' } },
    { checksums: { type: 'COMPOSITE', SHA1: 'AAA=-2' }, owner: OTHER },
    { checksums: { type: 'COMPOSITE', SHA1: 'BBB=-2' }, owner: OTHER, storageClass: 'STANDARD_IA' },
    { checksums: {} },
    { checksums: { type: 'FULL_OBJECT' } },
    { etag: `${'0'.repeat(32)}-2`, checksums: { CRC32: 'AAAAAA==' } },
  ]
  const keys = others.map((_, n) => `told/${n} é\t"`)
  for (const [n, other] of others.entries()) {
    const { attributes: own, body } = inlineObject('x'.repeat(n))
    const written = { attributes: { ...own, ...other }, body }
    await store.objects.put(bucket, keys[n] ?? '', written)
  }
  const found = await Promise.all(keys.map((key) => readVersion(store, bucket, { key })))
  const traitsOf = ({ storageClass, owner }: Version, n: number) => ({
    storageClass,
    owner,
    checksum: LISTED_CHECKSUMS[n],
  })
  const versions = await store.listings.versions(bucket, LIST)
  assert.equal(versions.entries.length, found.length)
  for (const [n, { traits, ...facts }] of versions.entries.entries()) {
    const { version } = present(found[n], 'each key has its version')
    assert.deepEqual(version, { ...version, ...facts })
    assert.deepEqual(traits, traitsOf(version, n))
  }
  for (const delimiter of ['', '|', '/']) {
    const prefix = delimiter === '/' ? 'told/' : ''
    const { entries } = await store.listings.objects(bucket, { ...LIST, delimiter, prefix })
    assert.deepEqual(
      entries,
      found.map(({ version }, n) => {
        const { key, size, etag, modifiedAtMs } = version
        return { key, size, etag, modifiedAtMs, traits: traitsOf(version, n) }
      }),
    )
  }
})

const COMPOSITE = { algorithm: 'SHA1', type: 'COMPOSITE' }
const LISTED_CHECKSUMS = [{ algorithm: 'CRC64NVME', type: 'FULL_OBJECT' }, COMPOSITE, COMPOSITE]

test('a listing goes on where versions were deleted in between', { skip }, async () => {
  const bucket = await makeBucket(store, 'deleted-between')
  await store.buckets.setVersioning(bucket, 'enabled')
  await store.objects.put(bucket, 'k', inlineObject('1'))
  await store.buckets.setVersioning(bucket, 'suspended')
  await store.objects.put(bucket, 'k', inlineObject('2'))
  const first = await store.listings.versions(bucket, { ...LIST, limit: 1 })
  assert.equal(first.entries[0]?.versionId, 'null')
  await store.objects.delete(bucket, [{ key: 'k', versionId: 'null' }], { bypassGovernance: false })
  const { key, versionId } = first.last
  const rest = await store.listings.versions(bucket, {
    ...LIST,
    after: key,
    afterVersion: versionId,
  })
  assert.equal(rest.entries.length, 1)
  await assert.rejects(
    store.listings.versions(bucket, { ...LIST, afterVersion: 'nonsense' }),
    refused('InvalidArgument'),
  )
})

test('a page of folders alone has each of them once, whatever their names', { skip }, async () => {
  const bucket = await makeBucket(store, 'folders-alone')
  const keys = ['//x', '/b/c', 'a/1', 'a/b/1', 'é\t/1', '\u{1F40A}/1', 'a\n/1']
  for (const key of keys) await store.objects.put(bucket, key, inlineObject(key))
  const all = ['/', 'a\n/', 'a/', 'é\t/', '\u{1F40A}/']
  const listed = async (asked: Partial<ListQuery>) => {
    const { entries, commonPrefixes, truncated, last } = await store.listings.objects(bucket, {
      ...LIST,
      delimiter: '/',
      ...asked,
    })
    return [entries.map(({ key }) => key), commonPrefixes, truncated, last]
  }
  assert.deepEqual(await listed({}), [[], all, false, '\u{1F40A}/'])
  assert.deepEqual(await listed({ limit: 5 }), [[], all, false, '\u{1F40A}/'])
  assert.deepEqual(await listed({ limit: 2 }), [[], all.slice(0, 2), true, 'a\n/'])
  assert.deepEqual(await listed({ limit: 0 }), [[], [], false, ''])
  assert.deepEqual(await listed({ after: 'a\n/', limit: 1 }), [[], ['a/'], true, 'a/'])
  assert.deepEqual(await listed({ after: 'a/b/1' }), [[], all.slice(3), false, '\u{1F40A}/'])
  assert.deepEqual(await listed({ after: '\u{1F40A}/' }), [[], [], false, '\u{1F40A}/'])
  assert.deepEqual(await listed({ prefix: '/' }), [[], ['//', '/b/'], false, '/b/'])
  assert.deepEqual(await listed({ prefix: 'a' }), [[], ['a\n/', 'a/'], false, 'a/'])
  assert.deepEqual(await listed({ prefix: 'none/' }), [[], [], false, ''])
  // Keys beside folders, and keys alone, are rows of their own.
  assert.deepEqual(await listed({ prefix: 'a/' }), [['a/1'], ['a/b/'], false, 'a/b/'])
  assert.deepEqual(await listed({ prefix: 'a/b/' }), [['a/b/1'], [], false, 'a/b/1'])
  assert.deepEqual(await listed({ prefix: 'a/', after: 'a/1' }), [[], ['a/b/'], false, 'a/b/'])
})
