// Versions that are put together: each is as if it were put alone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { whyNoState } from '#postgres/testing-url.ts'
import {
  annotation,
  attributes,
  brokenRules,
  endsOf,
  inlineObject,
  makeBucket,
  ACCOUNT,
  objectsOver,
  partsObject,
  variedAttributes,
  withStore,
  type Store,
} from './store.fixture.ts'
import type { Bucket } from './types.ts'

const skip = whyNoState()
const LIST = { prefix: '', delimiter: '', after: '', limit: 1000 }
const NO_BYPASS = { bypassGovernance: false }
const RUNS = Number(process.env['ERGON_RUNS'] ?? 5)
/** Every run begins with this list: chance alone may give short lists only. */
const MANY = Array.from({ length: 40 }, (_, at) => (at % 3 === 0 ? undefined : at))
let store: Store
withStore(8, (opened) => (store = opened))

const text = (body: { kind: string; bytes?: Buffer } | undefined) => body?.bytes?.toString()
/** Puts many at once, and says what is not as it was put. */
async function holds(objects: Store['objects'], bucket: Bucket): Promise<void> {
  const sizes = fc.array(fc.oneof(fc.constant(undefined), fc.nat(40)), {
    maxLength: 40,
    size: 'max',
  })
  await fc.assert(
    fc.asyncProperty(sizes, async (wanted) => {
      const puts = wanted.map((size, at) => ({
        key: `k${at % 30}/${at}`,
        made:
          size === undefined
            ? partsObject(`p${at}`, [70_000, at])
            : inlineObject(`${at}`.padEnd(size, '.').slice(0, size)),
      }))
      const written = await Promise.all(puts.map(({ key, made }) => objects.put(bucket, key, made)))
      const read = await Promise.all(
        puts.map(async ({ key }) => (await store.objects.find(bucket.name, { key })).found),
      )
      for (const [at, { made }] of puts.entries()) {
        assert.deepEqual(read[at]?.body, made.body)
        assert.equal(read[at]?.version.etag, made.attributes.etag)
        assert.equal(read[at]?.version.versionId, written[at]?.versionId)
      }
    }),
    { numRuns: RUNS, endOnFailure: true, examples: [[MANY]] },
  )
}

test('versions that are put together are those that were put', { skip }, async (t) => {
  const bucket = await makeBucket(store, 'together')
  await store.buckets.setVersioning(bucket, 'enabled')
  let most = 0
  await holds(objectsOver(store, { rows: (rows) => (most = Math.max(most, rows.length)) }), bucket)
  // They are all asked for in one turn, so that nothing is sent before there are so many.
  assert.equal(most, 16)
  assert.deepEqual(await brokenRules(store.state), [])
  await t.test(
    'puts in one query are told apart: a planted mix-up of bodies, of attributes or of answers is seen',
    async () => {
      const isPut = (values: unknown[]) => values.length === 6
      const mixUps: Parameters<typeof objectsOver>[1][] = [
        { values: (all) => isPut(all) && (all[4] as number[]).reverse() },
        {
          values: (all) =>
            isPut(all) && (all[2] = JSON.stringify(JSON.parse(String(all[2])).reverse())),
        },
        { rows: (rows) => rows.forEach((row, at) => (row['n'] = rows.length - at)) },
      ]
      for (const mixUp of mixUps) await assert.rejects(holds(objectsOver(store, mixUp), bucket))
    },
  )
})

test('puts whose answer is lost after the commit are not put again', { skip }, async () => {
  const bucket = await makeBucket(store, 'answer-lost')
  await store.buckets.setVersioning(bucket, 'enabled')
  const lost = new RangeError('The answer has more than 64 MiB')
  const objects = objectsOver(store, {
    rows() {
      throw lost
    },
  })
  const keys = ['a', 'b', 'c']
  const got = await Promise.allSettled(
    keys.map((key) => objects.put(bucket, key, inlineObject(key))),
  )
  assert.ok(got.every((end) => end.status === 'rejected' && end.reason === lost))
  const { entries } = await store.listings.versions(bucket, LIST)
  assert.deepEqual(
    entries.map(({ key }) => key),
    keys,
  )
})

test('each of several puts in one query meets its own refusal or error', { skip }, async () => {
  const bucket = await makeBucket(store, 'own-errors')
  const short = await makeBucket(store, 'own-errors-gone')
  await store.buckets.delete(short)
  const once = { conditions: { ifNoneMatch: '*' as const } }
  const objects = objectsOver(store)
  const got = await endsOf([
    objects.put(bucket, 'a', { ...inlineObject('first'), ...once }),
    objects.put(bucket, 'a', { ...inlineObject('second'), ...once }),
    objects.put(short, 'a', inlineObject('nowhere')),
    // Shares a blob that is not there: an error of SQL, which ends the transaction.
    objects.put(bucket, 'copy', { ...partsObject('lost', [70_000]), share: true }),
    objects.put(bucket, 'c', inlineObject('third')),
    objects.put(bucket, 'b', {
      attributes: attributes('empty', 0),
      body: { kind: 'inline', bytes: Buffer.alloc(0) },
    }),
  ])
  // Asked alone after the error, either of the two may come first.
  assert.deepEqual(got.slice(0, 2).toSorted(), ['PreconditionFailed', 'put'])
  assert.deepEqual(got.slice(2), ['NoSuchBucket', 'ConditionalRequestConflict', 'put', 'put'])
  const read = async (key: string) => (await store.objects.find(bucket.name, { key })).found?.body
  assert.equal(text(await read('a')), got[0] === 'put' ? 'first' : 'second')
  assert.equal(text(await read('c')), 'third')
  assert.equal(text(await read('b')), '')
  assert.equal(await read('copy'), undefined)
  assert.deepEqual(await brokenRules(store.state), [])
})

type Before = 'nothing' | 'inline' | 'parts' | 'annotated' | 'marker' | 'twice'
const BEFORE: readonly Before[] = ['nothing', 'inline', 'parts', 'annotated', 'marker', 'twice']
const VERSIONINGS = ['off', 'enabled', 'enabled later', 'suspended', 'suspended later'] as const

/** The receivers of a bucket's news: all but the first turn a put into one that is made alone. */
const HEARERS = ['nobody', 'a rule', 'a follower'] as const

async function tell(bucket: Bucket, hearer: (typeof HEARERS)[number]): Promise<void> {
  const rules = [{ id: 'r', events: ['s3:ObjectCreated:*'] }]
  if (hearer === 'a rule') await store.buckets.configure(bucket, 'notification', { rules })
  if (hearer === 'a follower')
    await store.state.query('select follow_buckets($1, $2, $3)', [
      bucket.name,
      ACCOUNT,
      [bucket.name],
    ])
}

const varied = (text: string, seed: number) => ({
  attributes: variedAttributes(seed, Buffer.byteLength(text)),
  body: { kind: 'inline', bytes: Buffer.from(text) } as const,
})

/** A bucket with a key of each history, twice, so that many are put together. */
async function historical(name: string, versioning: (typeof VERSIONINGS)[number]) {
  const bucket = await makeBucket(store, name)
  if (versioning === 'enabled' || versioning === 'suspended')
    await store.buckets.setVersioning(bucket, versioning)
  const keys = BEFORE.flatMap((before) => [`${before}-1`, `${before}-2`])
  for (const [seed, key] of keys.entries()) {
    const before = BEFORE[Math.floor(seed / 2)]
    if (before === 'nothing') continue
    const isVaried = before === 'inline' || before === 'twice'
    const plain = before === 'parts' ? partsObject(key, [70_000]) : inlineObject(`old ${key}`)
    const old = isVaried ? varied(`old ${key}`, seed) : plain
    await store.objects.put(bucket, key, old)
    if (before === 'twice') await store.objects.put(bucket, key, varied('newer', seed + 3))
    if (before === 'annotated')
      await store.annotations.put(bucket, { key }, annotation('note', 'text', null))
    if (before === 'marker') await store.objects.delete(bucket, [{ key }], NO_BYPASS)
  }
  if (!versioning.endsWith(' later')) return { bucket, keys }
  await store.buckets.setVersioning(bucket, 'enabled')
  if (versioning === 'enabled later') return { bucket, keys }
  await store.objects.put(bucket, 'inline-1', inlineObject('a version with an id'))
  await store.buckets.setVersioning(bucket, 'suspended')
  return { bucket, keys }
}

/** All versions without ids and times, the counters of usage, and the news for others. */
async function stateOf({ id, name }: Bucket) {
  const versions = await store.state.query(
    `select key, version_id = 'null' as is_null, is_latest, delete_marker, size, etag, checksums, headers, metadata,
      tags, acl, retention_mode, retain_until, legal_hold, encryption, storage_class, owner, inline,
      parts is null as is_inline, part_count, annotations is null as is_bare
      from object_versions where bucket = $1 order by key, seq`,
    [id],
  )
  const usage = await store.state.query(
    'select sum(bytes) as bytes, sum(versions) as versions from bucket_usage where bucket = $1',
    [id],
  )
  const events = await store.state.query(
    `select rule, name, key, version_id = 'null' as is_null, size, etag from storage_events
      where bucket = $1 order by key`,
    [id],
  )
  const followed = await store.state.query(
    "select key, version_id = 'null' as is_null from followed_objects where follower = $1 order by key",
    [name],
  )
  return {
    versions: versions.rows,
    usage: usage.rows,
    events: events.rows,
    followed: followed.rows,
  }
}

test('puts that go together leave what puts alone leave', { skip }, async () => {
  let nth = 0
  for (const hearer of HEARERS)
    for (const versioning of VERSIONINGS) {
      nth++
      const [together, alone] = [
        await historical(`together-${nth}`, versioning),
        await historical(`alone-${nth}`, versioning),
      ]
      for (const { bucket } of [together, alone]) await tell(bucket, hearer)
      const made = (key: string, seed: number) =>
        key === 'nothing-2' || key === 'inline-2'
          ? { ...varied(key, seed + 7), conditions: { ifNoneMatch: '*' as const } }
          : varied(`new ${key}`, seed + 7)
      const objects = objectsOver(store)
      const got = await endsOf(
        together.keys.map((key, seed) => objects.put(together.bucket, key, made(key, seed))),
      )
      for (const [seed, key] of alone.keys.entries())
        assert.deepEqual(
          [got[seed]],
          await endsOf([objects.put(alone.bucket, key, made(key, seed))]),
          key,
        )
      const left = await stateOf(together.bucket)
      assert.deepEqual(left, await stateOf(alone.bucket), `${versioning}, told to ${hearer}`)
      const told = got.filter((end) => end === 'put').length
      assert.equal(left.events.length, hearer === 'a rule' ? told : 0)
      assert.equal(left.followed.length, hearer === 'a follower' ? told : 0)
      assert.deepEqual(await brokenRules(store.state), [])
    }
})
