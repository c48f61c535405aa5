// Annotations in the state: they are their version's, go with it, and are counted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { collectAnnotations } from './upkeep/collect-annotations.ts'
import {
  annotation,
  brokenRules,
  inlineObject,
  makeBucket,
  readVersion,
  withStore,
  type Store,
} from './store.fixture.ts'
import type { Bucket, Sheet } from './types.ts'

const skip = whyNoState()
const { signal } = new AbortController()
let store: Store
withStore(8, (opened) => (store = opened))

const sheetOf = async (bucket: Bucket, key: string, versionId?: string) =>
  (await readVersion(store, bucket, { key, ...(versionId && { versionId }) })).version.annotations

/** `place` is the key of the object and the annotation's name. */
async function put(bucket: Bucket, place: [string, string], text: string, more: object = {}) {
  const [key, name] = place
  const sheet = await sheetOf(bucket, key)
  await store.annotations.put(bucket, { key }, { ...annotation(name, text, sheet), ...more })
}

async function textsOf(sheet: Sheet | null): Promise<Record<string, string>> {
  if (sheet === null) return {}
  const query = { prefix: '', after: '', limit: 1000 }
  const { entries } = await store.annotations.list(sheet, query)
  const texts = entries.map(async ({ name }) => {
    const kept = await store.annotations.get(sheet, name)
    return [name, kept?.sealed.toString() ?? '']
  })
  return Object.fromEntries(await Promise.all(texts))
}

async function assertWhole(): Promise<void> {
  assert.deepEqual(await brokenRules(store.state), [])
}

async function rowsLeft(sheet: Sheet | null): Promise<number> {
  const { rows } = await store.state.query<{ n: string }>(
    'select count(*) as n from object_annotations where sheet = $1',
    [sheet?.sheet],
  )
  return Number(rows[0]?.n)
}

test('annotations are set, replaced, listed by name and deleted', { skip }, async () => {
  const bucket = await makeBucket(store, 'annotated')
  await store.objects.put(bucket, 'a', inlineObject('body'))
  assert.equal(await sheetOf(bucket, 'a'), null)
  for (const name of ['b', 'a/2', 'a/1']) await put(bucket, ['a', name], name)
  await put(bucket, ['a', 'b'], 'longer')
  const sheet = await sheetOf(bucket, 'a')
  assert.ok(sheet)
  assert.deepEqual(await textsOf(sheet), { 'a/1': 'a/1', 'a/2': 'a/2', b: 'longer' })
  assert.deepEqual([sheet.count, sheet.bytes], [3, 19], 'names count')
  const page = await store.annotations.list(sheet, { prefix: 'a/', after: '', limit: 1 })
  assert.deepEqual([page.entries.map(({ name }) => name), page.truncated], [['a/1'], true])
  await assertWhole()
  const of = { ifMatch: undefined, bypassGovernance: false }
  await store.annotations.delete(bucket, { key: 'a' }, { name: 'b', ...of })
  await store.annotations.delete(bucket, { key: 'a' }, { name: 'b', ...of })
  assert.deepEqual(Object.keys(await textsOf(sheet)), ['a/1', 'a/2'])
  assert.equal((await sheetOf(bucket, 'a'))?.count, 2)
  await assertWhole()
})

test(
  'annotations are of one version, and go with it when it is replaced or deleted',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'annotated-versions')
    await store.objects.put(bucket, 'k', inlineObject('one'))
    await put(bucket, ['k', 'n'], 'of the first')
    const replaced = await sheetOf(bucket, 'k')
    await store.objects.put(bucket, 'k', inlineObject('two'))
    assert.equal(await sheetOf(bucket, 'k'), null, 'what replaces a body has none')
    await store.buckets.setVersioning(bucket, 'enabled')
    await put(bucket, ['k', 'n'], 'of the second')
    const { versionId } = await store.objects.put(bucket, 'k', inlineObject('three'))
    await put(bucket, ['k', 'n'], 'of the third')
    assert.deepEqual(await textsOf(await sheetOf(bucket, 'k', 'null')), { n: 'of the second' })
    const third = await sheetOf(bucket, 'k', versionId)
    assert.deepEqual(await textsOf(third), { n: 'of the third' })
    await assertWhole()
    const gone = [{ key: 'k', versionId }]
    await store.objects.delete(bucket, gone, { bypassGovernance: false })
    await assertWhole()
    assert.deepEqual([await rowsLeft(replaced), await rowsLeft(third)], [1, 1])
    await collectAnnotations(store.state, { limit: 100, signal })
    assert.deepEqual([await rowsLeft(replaced), await rowsLeft(third)], [1, 1], 'not for an hour')
    await collectAnnotations(store.state, { limit: 100, signal, graceMs: -1 })
    assert.deepEqual([await rowsLeft(replaced), await rowsLeft(third)], [0, 0])
    assert.deepEqual(await textsOf(await sheetOf(bucket, 'k', 'null')), { n: 'of the second' })
    await assertWhole()
  },
)

test('put() refuses what does not fit what is there, and changes nothing', { skip }, async () => {
  const bucket = await makeBucket(store, 'annotated-refused')
  await store.objects.put(bucket, 'k', inlineObject('one'))
  const refused = (code: string, more: object, key = 'k') =>
    assert.rejects(
      store.annotations.put(bucket, { key }, { ...annotation('n', 't', null), ...more }),
      {
        code,
      },
    )
  await refused('NoSuchKey', {}, 'none')
  await refused('PreconditionFailed', { ifMatch: 'another' })
  await refused('ConditionalRequestConflict', { encryption: { kind: 'SSE-S3' } })
  await put(bucket, ['k', 'n'], 'kept', { ifMatch: 'e-one' })
  await refused('ConditionalRequestConflict', {})
  assert.deepEqual(await textsOf(await sheetOf(bucket, 'k')), { n: 'kept' })
  await assertWhole()
})

test('object lock keeps what would be lost; GOVERNANCE yields to a bypass', { skip }, async () => {
  const bucket = await makeBucket(store, 'annotated-locked')
  await store.buckets.enableObjectLock(bucket)
  await store.objects.put(bucket, 'k', inlineObject('one'))
  await put(bucket, ['k', 'n'], 'first')
  const denied = { code: 'AccessDenied' }
  const remove = (bypassGovernance: boolean) =>
    store.annotations.delete(
      bucket,
      { key: 'k' },
      { name: 'n', ifMatch: undefined, bypassGovernance },
    )
  await store.objects.amend(bucket, { key: 'k' }, { legalHold: true })
  await assert.rejects(remove(true), denied)
  await assert.rejects(put(bucket, ['k', 'n'], 'second', { bypassGovernance: true }), denied)
  await put(bucket, ['k', 'more'], 'added')
  await store.objects.amend(bucket, { key: 'k' }, { legalHold: false })
  const retention = { mode: 'GOVERNANCE', untilMs: Date.now() + 3_600_000 } as const
  await store.objects.amend(bucket, { key: 'k' }, { retention, bypassGovernance: false })
  await assert.rejects(remove(false), denied)
  assert.deepEqual(await textsOf(await sheetOf(bucket, 'k')), { more: 'added', n: 'first' })
  await remove(true)
  assert.deepEqual(await textsOf(await sheetOf(bucket, 'k')), { more: 'added' })
})

test('a version has a thousand at most, and a copy has them all', { skip }, async () => {
  const bucket = await makeBucket(store, 'annotated-many')
  await store.objects.put(bucket, 'k', inlineObject('one'))
  await put(bucket, ['k', 'n0'], 't0')
  const sheet = await sheetOf(bucket, 'k')
  const rest = Array.from({ length: 999 }, (_, nth) => `n${nth + 1}`)
  const lane = async () => {
    for (let name = rest.pop(); name !== undefined; name = rest.pop())
      await store.annotations.put(bucket, { key: 'k' }, annotation(name, `t${name}`, sheet))
  }
  await Promise.all([lane(), lane(), lane()])
  await assert.rejects(put(bucket, ['k', 'one more'], 't'), { code: 'AnnotationLimitExceeded' })
  await put(bucket, ['k', 'n7'], 'replaced')
  const full = await sheetOf(bucket, 'k')
  assert.ok(full)
  assert.equal(full.count, 1000)
  const copied = await store.annotations.copy(full, { key: 'other' }, signal)
  await store.objects.put(bucket, 'copy', { ...inlineObject('one'), annotations: copied })
  const there = await sheetOf(bucket, 'copy')
  assert.notEqual(there?.sheet, full.sheet)
  assert.deepEqual(there?.key, { key: 'other' })
  assert.deepEqual(await textsOf(there), await textsOf(full))
  await assertWhole()
  const lost = await store.annotations.copy(full, { key: 'lost' }, signal)
  await collectAnnotations(store.state, { limit: 2000, signal, graceMs: -1 })
  assert.equal(await rowsLeft(lost), 0, 'a copy that nobody named')
  await assert.rejects(
    store.objects.put(bucket, 'late', { ...inlineObject('one'), annotations: lost }),
    { code: 'ConditionalRequestConflict' },
  )
  await assertWhole()
})
