// Versions that are read together, against the same read one by one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { systemClock } from '#base/clock.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { createObjects } from './create-objects.ts'
import { inlineObject, makeBucket, partsObject, withStore, type Store } from './store.fixture.ts'
import type { ObjectTarget } from './objects.ts'

const skip = whyNoState()
const RUNS = Number(process.env['ERGON_RUNS'] ?? 5)
/** A mix-up ends the histories that find it: of 5 histories, one time in 60 none did. */
const PLANTED_RUNS = 500
const TOGETHER_MAX = 30
const BUCKETS = ['plain', 'versions', 'no-such']
// Keys with the signs of SQL's arrays are among them.
const KEYS = ['a', 'a/b', '{"x",NULL}', 'NULL', '\\', 'é\u{1F600}', 'deleted', 'parts', 'no-such']
let store: Store
withStore(4, (opened) => (store = opened))

type Asked = { readonly bucket: string; readonly target: ObjectTarget }

/** Both buckets with all keys but the last, and the ids of their versions. */
async function fill(): Promise<string[]> {
  const ids = ['null', '0'.repeat(32), 'none']
  for (const name of BUCKETS.slice(0, 2)) {
    const bucket = await makeBucket(store, name)
    if (name === 'versions') await store.buckets.setVersioning(bucket, 'enabled')
    const versioned = (await store.buckets.get(name)) ?? bucket
    for (const round of [1, 2])
      for (const key of KEYS.slice(0, -1)) {
        const made =
          key === 'parts'
            ? partsObject(`${name}-${round}`, [70_000, round])
            : inlineObject(`${name} ${key} ${round}`)
        ids.push((await store.objects.put(versioned, key, made)).versionId)
      }
    await store.objects.delete(versioned, [{ key: 'deleted' }], { bypassGovernance: false })
  }
  return ids
}

const answer = (objects: Store['objects'], { bucket, target }: Asked) =>
  objects.find(bucket, target).catch((error: Error) => error.message)

/** Asks many at once, and says what differs from asking one after another. */
async function holds(
  together: Store['objects'],
  ids: readonly string[],
  numRuns = RUNS,
): Promise<void> {
  const asked = fc.record({
    bucket: fc.constantFrom(...BUCKETS),
    target: fc.record(
      { key: fc.constantFrom(...KEYS), versionId: fc.constantFrom(...ids) },
      { requiredKeys: ['key'] },
    ),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(asked, { maxLength: TOGETHER_MAX, size: 'max' }),
      async (questions) => {
        const answers = await Promise.all(questions.map((one) => answer(together, one)))
        for (const [at, question] of questions.entries())
          assert.deepEqual(answers[at], await answer(store.objects, question))
      },
    ),
    { numRuns, endOnFailure: true },
  )
}

/** A state that does something to the rows of each answer. */
const changed = (change: (rows: SqlRow[]) => void): Queryable => ({
  async query<R extends SqlRow>(text: string, values?: readonly unknown[]) {
    const result = await store.pipeline.query<R>(text, values)
    change(result.rows)
    return result
  },
})

const openObjects = (state: Queryable) =>
  createObjects({
    state,
    finds: state,
    puts: state,
    documents: store.documents,
    clock: systemClock,
  })

test('versions that are read together are those that are read alone', { skip }, async (t) => {
  const ids = await fill()
  let most = 0
  const counted = changed((rows) => (most = Math.max(most, rows.length)))
  await holds(openObjects(counted), ids)
  // Random lists of up to 30: five of them may all be short.
  assert.ok(most > 1, `at most ${most} went together`)
  await t.test('in whatever order the rows come', async () => {
    await holds(openObjects(changed((rows) => rows.reverse())), ids)
  })
  await t.test(
    'finds in one query are told apart: a planted mix-up of bodies or of rows is seen',
    async () => {
      const mixUps: ((rows: SqlRow[]) => void)[] = [
        (rows) => rows.forEach((row, at) => (row['n'] = rows.length - at)),
        (rows) => rows.forEach((row) => (row['inline'] = rows[0]?.['inline'])),
        (rows) => rows.forEach((row) => (row['id'] = rows[0]?.['id'])),
      ]
      for (const mixUp of mixUps)
        await assert.rejects(holds(openObjects(changed(mixUp)), ids, PLANTED_RUNS))
    },
  )
})

test('a version is found by its id as the latest is, among many', { skip }, async () => {
  const bucket = await makeBucket(store, 'many-versions')
  await store.buckets.setVersioning(bucket, 'enabled')
  const versioned = await store.buckets.get(bucket.name)
  const ids: string[] = []
  for (let n = 0; n < 20; n++)
    ids.push((await store.objects.put(versioned, 'k', inlineObject(`${n}`))).versionId)
  const found = await Promise.all(
    ids.map((versionId) => store.objects.find(bucket.name, { key: 'k', versionId })),
  )
  assert.deepEqual(
    found.map((one) => one.found?.version.versionId),
    ids,
  )
  assert.equal(
    (await store.objects.find(bucket.name, { key: 'k' })).found?.version.versionId,
    ids.at(-1),
  )
})

test('read together, what was written before is there', { skip }, async () => {
  const bucket = await makeBucket(store, 'own-writes')
  const seen = await Promise.all(
    Array.from({ length: 40 }, async (_, n) => {
      const key = `k${n % 5}`
      const { modifiedAtMs } = await store.objects.put(bucket, key, inlineObject(`${n}`))
      const { found } = await store.objects.find(bucket.name, { key })
      return (found?.version.modifiedAtMs ?? 0) >= modifiedAtMs
    }),
  )
  assert.ok(seen.every(Boolean))
})
