import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import {
  attributes,
  brokenRules,
  makeBucket,
  partsObject,
  readVersion,
  withStore,
  type Store,
} from '#objects/store.fixture.ts'
import type { StorageRequest } from '#s3/call.ts'
import type { Parts } from '#s3/parts.ts'
import { createCopyObject } from './copy-object.ts'

const skip = whyNoState()
let store: Store
withStore(4, (opened) => (store = opened))

/** Copies `source` to `copy`; `meanwhile` happens each time after the source was looked up. */
async function copyWhile(
  name: string,
  meanwhile: (lookUp: number) => Promise<unknown>,
  { asked = {}, own = attributes('', 0).headers } = {},
) {
  const bucket = await makeBucket(store, name)
  const put = (etag: string, headers: Record<string, string> = {}) => {
    const object = partsObject(etag, [50_000])
    const given = { ...object.attributes, headers: { ...object.attributes.headers, ...headers } }
    return store.objects.put(bucket, 'source', { ...object, attributes: given })
  }
  await put('first')
  let lookUps = 0
  const deps = {
    access: {
      bucket: async () => bucket,
      async source() {
        const found = await readVersion(store, bucket, { key: 'source' })
        await meanwhile(++lookUps)
        return { bucket, ...found }
      },
      allows: () => true,
    },
    blobs: { check: async () => undefined },
    annotations: store.annotations,
    objects: store.objects,
    admitTransfer: async () => undefined,
    attributesOf: async () => ({ ...attributes('', 0), headers: own }),
    encrypting: { wanted: () => undefined, reading: () => ({}), rootForCopy: () => null },
  } as unknown as Parts
  const request = {
    signal: new AbortController().signal,
    body: {
      headers: { 'x-amz-copy-source': `${name}/source`, ...asked },
      target: { key: 'copy', query: new Map() },
    },
  } as unknown as StorageRequest
  const remove = () =>
    store.objects.delete(bucket, [{ key: 'source' }], { bypassGovernance: false })
  return {
    bucket,
    put,
    remove,
    copy: () => createCopyObject(deps)(request),
    lookUps: () => lookUps,
  }
}

test('a copy whose source is replaced meanwhile is one of the new source', { skip }, async () => {
  const made = await copyWhile('copy-replaced', (lookUp) =>
    lookUp === 1 ? made.put('second') : Promise.resolve(),
  )
  await made.copy()
  assert.equal(made.lookUps(), 2)
  const { version } = await readVersion(store, made.bucket, { key: 'copy' })
  assert.equal(version.etag, 'second')
  assert.deepEqual(await brokenRules(store.state), [])
})

test(
  'a copy says what there is when its source is gone, and tries no third time',
  { skip },
  async () => {
    const gone = await copyWhile('copy-gone', () => gone.remove())
    await assert.rejects(gone.copy(), { code: 'NoSuchKey' })
    const busy = await copyWhile('copy-busy', (lookUp) => busy.put(`again-${lookUp}`))
    await assert.rejects(busy.copy(), { code: 'ConditionalRequestConflict' })
    assert.equal(busy.lookUps(), 2)
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test('a copy has no redirect but the one that it asks for', { skip }, async () => {
  const websiteRedirect = 'https://elsewhere.example'
  const REPLACE = { 'x-amz-metadata-directive': 'REPLACE' }
  const type = { 'content-type': 'text/html' }
  const rows = [
    [{}, type, { 'content-type': 'text/plain' }],
    [{}, { ...type, websiteRedirect: '/own' }, { websiteRedirect: '/own' }],
    [REPLACE, type, type],
    [REPLACE, { ...type, websiteRedirect: '/own' }, { ...type, websiteRedirect: '/own' }],
  ] as const
  for (const [index, [asked, own, expected]] of rows.entries()) {
    const nothing = () => Promise.resolve()
    const made = await copyWhile(`copy-redirect-${index}`, nothing, { asked, own })
    await made.put('redirecting', { websiteRedirect })
    await made.copy()
    const { version } = await readVersion(store, made.bucket, { key: 'copy' })
    assert.deepEqual(version.headers, { 'content-type': 'text/plain', ...expected })
  }
})

test('a copy whose annotations change meanwhile has the new ones', { skip }, async () => {
  const annotate = async (name: string) => {
    const { version } = await readVersion(store, made.bucket, { key: 'source' })
    await store.annotations.put(
      made.bucket,
      { key: 'source' },
      {
        name,
        size: 4,
        etag: 'e',
        checksums: {},
        encryption: null,
        key: { key: 'root' },
        salt: Buffer.alloc(16),
        sealed: Buffer.from('text'),
        sheet: version.annotations,
        ifMatch: undefined,
        bypassGovernance: false,
      },
    )
  }
  const made = await copyWhile('copy-annotated', (lookUp) =>
    lookUp === 1 ? annotate('late') : Promise.resolve(),
  )
  await annotate('first')
  await made.copy()
  assert.equal(made.lookUps(), 4, 'before and after it was copied, twice')
  const { version } = await readVersion(store, made.bucket, { key: 'copy' })
  const query = { prefix: '', after: '', limit: 10 }
  assert.ok(version.annotations)
  const { entries } = await store.annotations.list(version.annotations, query)
  assert.deepEqual(
    entries.map(({ name }) => name),
    ['first', 'late'],
  )
  assert.deepEqual(await brokenRules(store.state), [])
})
