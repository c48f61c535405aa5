// Puts and deletions that meet: at the same keys, at a deletion of their bucket, at the lock of a bucket that stays.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep, systemClock } from '#base/clock.ts'
import { present } from '#base/errors.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { createObjects } from './create-objects.ts'
import {
  endsOf,
  inlineObject,
  makeBucket,
  objectsOver,
  partsObject,
  withStore,
  type Store,
} from './store.fixture.ts'
import type { Bucket } from './types.ts'
import { patientState } from './when-free.ts'

const skip = whyNoState()
const LIST = { prefix: '', delimiter: '', after: '', limit: 1000 }
const NO_BYPASS = { bypassGovernance: false }
const ROUNDS_MAX = 50
let store: Store
withStore(8, (opened) => (store = opened))

const LOCK = 'perform pg_advisory_xact_lock(4207711, s.stripe)'
const ORDER = 'order by stripe, g.n'
const KEYS = Array.from({ length: 12 }, (_, n) => `k${n}`)

/** Two gateways put the same keys in opposite orders; true when a transaction of theirs failed. */
async function meet(bucket: Bucket): Promise<boolean> {
  let failures = 0
  const gateways = [0, 1].map(() => objectsOver(store, { failed: () => failures++ }))
  await Promise.all(
    gateways.flatMap((objects, at) =>
      (at === 0 ? KEYS : KEYS.toReversed()).map((key) =>
        objects.put(bucket, key, inlineObject('1')),
      ),
    ),
  )
  return failures > 0
}

test(
  'gateways that put the same keys at once wait for each other, and no more',
  { skip },
  async (t) => {
    const bucket = await makeBucket(store, 'meeting')
    const { rows } = await store.state.query<{ text: string }>(
      "select pg_get_functiondef('storage_put_all'::regproc) as text",
    )
    const sound = present(rows[0], 'there is such a function').text
    assert.ok(sound.includes(LOCK) && sound.includes(ORDER))
    // A pause after each lock makes the two meet in most rounds.
    const slow = sound.replace(LOCK, `${LOCK}, pg_sleep(0.002)`)
    try {
      await store.state.query(slow)
      for (let round = 0; round < 10; round++) assert.equal(await meet(bucket), false)
      await t.test('the order of locks matters: a planted other order is seen', async () => {
        await store.state.query(slow.replace(ORDER, 'order by g.n'))
        let met = false
        for (let round = 0; round < ROUNDS_MAX && !met; round++) met = await meet(bucket)
        assert.ok(met)
      })
    } finally {
      await store.state.query(sound)
    }
  },
)

test(
  'writes that wait for a stuck deletion of their bucket hold up nobody else',
  { skip, timeout: 30_000 },
  async () => {
    const [bucket, other] = [await makeBucket(store, 'stuck'), await makeBucket(store, 'beside')]
    const { objects } = store
    const waiting: Promise<unknown>[] = []
    await store.state.transaction(async (transaction) => {
      await transaction.query('select pg_advisory_xact_lock(4207710, $1)', [bucket.id])
      // More of each than there are connections, and puts for both buckets at once, which share a query.
      for (let nth = 0; nth < 20; nth++) {
        waiting.push(
          objects.put(bucket, `k${nth}`, inlineObject('x')),
          objects.delete(bucket, [{ key: `none${nth}` }], NO_BYPASS),
        )
        await Promise.all([
          objects.put(other, `k${nth}`, inlineObject('x')),
          objects.put(other, `l${nth}`, inlineObject('x')),
          objects.put(other, `m${nth}`, partsObject('x', [3])),
          objects.delete(other, [{ key: `l${nth - 1}` }], NO_BYPASS),
        ])
      }
      assert.equal((await objects.find(bucket.name, { key: 'k0' })).found, undefined)
      const { rows } = await transaction.query(
        "select from pg_locks where not granted and locktype = 'advisory' and classid = 4207710",
      )
      assert.equal(rows.length, 0)
    })
    await Promise.all(waiting)
    assert.equal((await store.listings.objects(other, LIST)).entries.length, 41)
    assert.equal((await store.listings.objects(bucket, LIST)).entries.length, 20)
  },
)

test('a write to a bucket whose deletion never ends is refused', { skip }, async () => {
  const bucket = await makeBucket(store, 'never-free')
  let nowMs = 0
  const clock: Parameters<typeof patientState>[1] = {
    monotonicMs: () => nowMs,
    setTimer(ms, fire) {
      nowMs += ms
      return systemClock.setTimer(0, fire)
    },
  }
  const state = patientState(store.state, clock)
  const objects = createObjects({ ...store, state, finds: store.pipeline, clock })
  await store.state.transaction(async (transaction) => {
    await transaction.query('select pg_advisory_xact_lock(4207710, $1)', [bucket.id])
    const writes = [
      objects.put(bucket, 'k', inlineObject('x')),
      objects.delete(bucket, [{ key: 'k' }], NO_BYPASS),
    ]
    assert.deepEqual(await endsOf(writes), ['OperationAborted', 'OperationAborted'])
  })
})

test('a bucket goes when nobody writes to it any more', { skip }, async () => {
  const bucket = await makeBucket(store, 'written')
  let isDeleted = false
  const deletion = await store.state.transaction(async (transaction) => {
    await transaction.query('select storage_enter($1)', [bucket.id])
    const ended = store.buckets.delete(bucket).then(() => (isDeleted = true))
    await sleep(50)
    assert.equal(isDeleted, false)
    // The one who waits for the deletion holds up no other writer. An object that is there for a moment would have
    // the deletion refused where it looks just then.
    await store.objects.delete(bucket, [{ key: 'absent' }], NO_BYPASS)
    return { ended }
  })
  await deletion.ended
  await assert.rejects(store.objects.put(bucket, 'k', inlineObject('x')), { code: 'NoSuchBucket' })
})
