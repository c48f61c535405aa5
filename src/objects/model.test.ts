import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { Model, modelList } from './model.fixture.ts'
import {
  ACCOUNT,
  annotation,
  type Store,
  attributes,
  brokenRules,
  inlineObject,
  makeBucket,
  openStore,
  part,
  partsObject,
  readVersion,
} from './store.fixture.ts'
import type { Bucket } from './types.ts'

const skip = whyNoState()
const RUNS = Number(process.env['ERGON_RUNS'] ?? 25)
const { signal } = new AbortController()
let server: TestUrl
let store: Store
let bucketCount = 0

before(async () => {
  if (skip !== false) return
  server = await openTestUrl()
  store = await openStore(server.of, 2)
})
after(async () => {
  await store?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

// Few letters, so that keys meet: delimiters, one beyond the surrogates (UTF-16 order is another one than
// that of bytes), the greatest code point and the least.
const letter = fc.constantFrom(
  'a',
  'b',
  '/',
  '--',
  '\u{1}',
  'é',
  '\uFFFD',
  '\u{1F600}',
  '\u{10FFFF}',
)
const text = (most: number) => fc.array(letter, { maxLength: most }).map((parts) => parts.join(''))
const anyKey = fc.array(letter, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(''))
// Most of them out of four, so that keys get several versions.
const key = fc.oneof(anyKey, {
  weight: 3,
  arbitrary: fc.constantFrom('a', 'a/', 'a/b', '\u{1F600}/a'),
})
const query = fc.record({
  prefix: text(2),
  delimiter: fc.constantFrom('', '/', '--', 'a', '\u{1F600}', '\u{10FFFF}'),
  after: fc.oneof(fc.constant(''), text(3)),
  limit: fc.integer({ min: 1, max: 4 }),
})

type World = { bucket: Bucket; model: Model }
type Action = (world: World) => Promise<void>
const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % items.length]

async function put({ bucket, model }: World, at: string, size: number, inline: boolean) {
  const etag = `e${bucketCount++}`
  const made = inline ? inlineObject('x'.repeat(size)) : partsObject(etag, [size, size])
  const total = inline ? size : 2 * size
  const { versionId } = await store.objects.put(bucket, at, {
    ...made,
    attributes: attributes(etag, total),
  })
  model.put({ key: at, versionId, deleteMarker: false, etag, size: total })
}

async function remove({ bucket, model }: World, keys: readonly string[]) {
  const answers = await store.objects.delete(
    bucket,
    keys.map((each) => ({ key: each })),
    { bypassGovernance: false },
  )
  for (const answer of answers) {
    assert.ok('versionId' in answer)
    assert.equal(answer.deleteMarker, model.versioning !== 'off')
    model.delete(answer.key, answer.versionId)
  }
}

async function removeVersion({ bucket, model }: World, n: number) {
  const victim = pick(model.versions(), n)
  if (victim === undefined) return
  const { key: at, versionId, deleteMarker } = victim
  const [answer] = await store.objects.delete(bucket, [{ key: at, versionId }], {
    bypassGovernance: false,
  })
  assert.ok(answer !== undefined && 'blobs' in answer)
  const { blobs, ...rest } = answer
  assert.ok(blobs >= 0)
  assert.deepEqual(rest, { key: at, versionId, deleteMarker })
  model.deleteVersion(at, versionId)
}

/** Sets an annotation of a version, or deletes it. */
async function annotate({ bucket, model }: World, n: number, [name, text]: [string, string]) {
  const target = pick(
    model.versions().filter(({ deleteMarker }) => !deleteMarker),
    n,
  )
  if (target === undefined) return
  const { version } = await readVersion(store, bucket, target)
  if (text === '')
    await store.annotations.delete(bucket, target, {
      name,
      ifMatch: undefined,
      bypassGovernance: false,
    })
  else await store.annotations.put(bucket, target, annotation(name, text, version.annotations))
}

async function copy({ bucket, model }: World, n: number, to: string) {
  const source = pick(model.objects(), n)
  if (source === undefined) return
  const { version, body } = await readVersion(store, bucket, {
    key: source.key,
    versionId: source.versionId,
  })
  assert.deepEqual([version.etag, version.size], [source.etag, source.size])
  const sheet = version.annotations
  const { versionId } = await store.objects.put(bucket, to, {
    attributes: version,
    body,
    share: true,
    ...(sheet && { annotations: await store.annotations.copy(sheet, sheet.key, signal) }),
  })
  model.put({ ...source, key: to, versionId })
}

/** Another part of an upload that is open, or one in place of it. */
async function putPart({ bucket, model }: World, n: number, [number, size]: [number, number]) {
  const open = pick(model.uploads, n)
  if (open === undefined) return
  const name = { key: open.key, uploadId: open.id }
  await store.uploads.putPart(bucket, name, part(number, size, `r${number}`))
}

async function abort({ bucket, model }: World, n: number) {
  const open = pick(model.uploads, n)
  if (open === undefined) return
  await store.uploads.abort(bucket, { key: open.key, uploadId: open.id })
  model.uploads.splice(model.uploads.indexOf(open), 1)
}

async function upload({ bucket, model }: World, at: string, sizes: readonly number[], end: string) {
  const begun = await store.uploads.create(bucket, {
    key: at,
    initiator: ACCOUNT,
    attributes: attributes('', 0),
  })
  const name = { key: at, uploadId: begun.id }
  for (const [n, size] of sizes.entries())
    await store.uploads.putPart(bucket, name, part(n + 1, 5 + size, `p${n}`))
  if (end === 'leave') return void model.uploads.push({ key: at, id: begun.id })
  if (end === 'abort') return void (await store.uploads.abort(bucket, name))
  const etag = `m${bucketCount++}`
  const done = await store.uploads.complete(bucket, name, {
    parts: sizes.map((_, n) => ({ number: n + 1, etag: `p${n}` })).filter((_, n) => n !== 1),
    compose: () => ({ etag, checksums: {} }),
  })
  const size = sizes.reduce((total, each, n) => total + (n === 1 ? 0 : 5 + each), 0)
  assert.equal(done.size, size)
  model.put({ key: at, versionId: done.versionId, deleteMarker: false, etag, size })
}

async function setVersioning(world: World, versioning: 'enabled' | 'suspended') {
  await store.buckets.setVersioning(world.bucket, versioning)
  world.model.versioning = versioning
}

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(key, fc.nat(3), fc.boolean()).map(
      ([k, size, inline]) =>
        (w: World) =>
          put(w, k, size, inline),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .uniqueArray(key, { minLength: 1, maxLength: 3 })
      .map((keys) => (w: World) => remove(w, keys)),
  },
  { weight: 2, arbitrary: fc.nat(50).map((n) => (w: World) => removeVersion(w, n)) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(50), key).map(
      ([n, to]) =>
        (w: World) =>
          copy(w, n, to),
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        key,
        fc.array(fc.nat(3), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('complete', 'abort', 'leave'),
      )
      .map(
        ([k, sizes, end]) =>
          (w: World) =>
            upload(w, k, sizes, end),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        fc.nat(50),
        fc.tuple(
          fc.nat(3).map((n) => n + 1),
          fc.nat(9),
        ),
      )
      .map(
        ([n, given]) =>
          (w: World) =>
            putPart(w, n, given),
      ),
  },
  { arbitrary: fc.nat(50).map((n) => (w: World) => abort(w, n)), weight: 1 },
  {
    // Few versions, names and texts, so that what is there is replaced and deleted.
    weight: 4,
    arbitrary: fc
      .tuple(
        fc.nat(2),
        fc.tuple(fc.constantFrom('a', 'é\u{1F600}'), fc.constantFrom('', 'x', 'é/y')),
      )
      .map(
        ([n, given]) =>
          (w: World) =>
            annotate(w, n, given),
      ),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom('enabled' as const, 'suspended' as const)
      .map((v) => (w: World) => setVersioning(w, v)),
  },
)
type Query = { prefix: string; delimiter: string; after: string; limit: number }

const names = (page: {
  entries: readonly { key: string }[]
  commonPrefixes: readonly string[]
}) => [...page.entries.map((entry) => entry.key), ...page.commonPrefixes]

/** Reads page by page to the end; each page is full but the last. */
async function pages<
  P extends { entries: readonly { key: string }[]; commonPrefixes: string[]; truncated: boolean },
>(limit: number, next: (before: P | undefined) => Promise<P>): Promise<P[]> {
  const all: P[] = []
  for (let page: P | undefined; page === undefined || page.truncated;) {
    page = await next(page)
    all.push(page)
    const count = names(page).length
    assert.ok(page.truncated ? count === limit : count <= limit)
    assert.ok(all.length < 500)
  }
  return all
}

async function compareObjects({ bucket, model }: World, asked: Query) {
  const read = await pages(
    asked.limit,
    (page?: Awaited<ReturnType<typeof store.listings.objects>>) =>
      store.listings.objects(bucket, page ? { ...asked, after: page.last } : asked),
  )
  const wanted = modelList(model.objects(), asked)
  assert.deepEqual(
    read.flatMap((page) => page.entries.map(({ key: k, etag, size }) => ({ key: k, etag, size }))),
    wanted.flatMap(({ item }) =>
      item ? [{ key: item.key, etag: item.etag, size: item.size }] : [],
    ),
  )
  assert.deepEqual(
    read.flatMap((page) => page.commonPrefixes),
    wanted.flatMap(({ name, item }) => (item ? [] : [name])),
  )
}

async function compareVersions({ bucket, model }: World, asked: Query) {
  const read = await pages(
    asked.limit,
    (page?: Awaited<ReturnType<typeof store.listings.versions>>) =>
      store.listings.versions(
        bucket,
        page ? { ...asked, after: page.last.key, afterVersion: page.last.versionId } : asked,
      ),
  )
  const wanted = modelList(model.versions(), asked)
  assert.deepEqual(
    read.flatMap((page) =>
      page.entries.map(({ key: k, versionId, deleteMarker, etag, isLatest }) => ({
        k,
        versionId,
        deleteMarker,
        etag,
        isLatest,
      })),
    ),
    wanted.flatMap(({ item }) =>
      item
        ? [
            {
              k: item.key,
              versionId: item.versionId,
              deleteMarker: item.deleteMarker,
              etag: item.etag,
              isLatest: model.keys.get(item.key)?.[0] === item,
            },
          ]
        : [],
    ),
  )
  assert.deepEqual(
    read.flatMap((page) => page.commonPrefixes),
    wanted.flatMap(({ name, item }) => (item ? [] : [name])),
  )
}

async function compareUploads({ bucket, model }: World, asked: Query) {
  const read = await pages(
    asked.limit,
    (page?: Awaited<ReturnType<typeof store.listings.uploads>>) =>
      store.listings.uploads(
        bucket,
        page ? { ...asked, after: page.last.key, afterUpload: page.last.uploadId } : asked,
      ),
  )
  const order = model.uploads.toSorted((a, b) =>
    Buffer.compare(Buffer.from(`${a.key}\0${a.id}`), Buffer.from(`${b.key}\0${b.id}`)),
  )
  const wanted = modelList(order, asked)
  assert.deepEqual(
    read.flatMap((page) => page.entries.map(({ key: k, id }) => ({ key: k, id }))),
    wanted.flatMap(({ item }) => item ?? []),
  )
  assert.deepEqual(
    read.flatMap((page) => page.commonPrefixes),
    wanted.flatMap(({ name, item }) => (item ? [] : [name])),
  )
}

test('the store does what the model does, and pages add up to the whole', { skip }, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 5, maxLength: 40, size: 'max' }),
      fc.array(query, { minLength: 4, maxLength: 6 }),
      async (actions, queries) => {
        const bucket = await makeBucket(store, `model-${bucketCount++}`)
        const world = { bucket, model: new Model() }
        // Versioning may change meanwhile: the protocol loads the bucket anew for each request.
        for (const act of actions) await act(world)
        assert.deepEqual(await brokenRules(store.state), [])
        for (const asked of queries) {
          await compareObjects(world, asked)
          await compareVersions(world, asked)
          await compareUploads(world, asked)
        }
      },
    ),
    { numRuns: RUNS },
  )
})
