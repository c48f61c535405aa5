import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import { migrate } from '#state/migrate.ts'
import { EVENTS_KEPT_MS, forgetEvents } from './upkeep/forget-events.ts'
import { createEvents, type EventPage, type Events } from './create-events.ts'
import { SCHEMAS } from '#processes/schemas.ts'
import { inlineObject, makeBucket, openStore, type Store } from './store.fixture.ts'
import type { Bucket } from './types.ts'

const skip = whyNoState()
let server: TestUrl
let store: Store
let events: Events
before(async () => {
  if (skip !== false) return
  server = await openTestUrl()
  store = await openStore(server.of, 8)
  events = createEvents({ state: store.state })
})
after(async () => {
  await store?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const ALL = ['s3:ObjectCreated:*', 's3:ObjectRemoved:*']

async function toldBucket(name: string, ...rules: object[]): Promise<Bucket> {
  const bucket = await makeBucket(store, name)
  await store.buckets.configure(bucket, 'notification', { rules: rules as never })
  return bucket
}

const put = (bucket: Bucket, key: string, event = 'ObjectCreated:Put' as const) =>
  store.objects.put(bucket, key, { ...inlineObject('12'), event })
const remove = (bucket: Bucket, key: string) =>
  store.objects.delete(bucket, [{ key }], { bypassGovernance: false })
const TRIES = 500

/** A page of at least so many events: whatever else runs on the server may hold them back. */
async function pageOf(bucket: Bucket, least: number, after = ''): Promise<EventPage> {
  for (let tries = TRIES; ; tries--) {
    const page = await events.list(bucket, { after, limit: 1000 })
    if (page.events.length >= least || tries === 0) return page
    await pause(20)
  }
}
const told = async (bucket: Bucket, least: number, after = '') =>
  (await pageOf(bucket, least, after)).events.map(({ rule, name, key }) => `${rule} ${name} ${key}`)

test(
  'events are written where a rule wants them, by kind, prefix and suffix',
  { skip },
  async () => {
    const silent = await makeBucket(store, 'silent')
    await put(silent, 'k')
    assert.deepEqual(await told(silent, 0), [])
    const bucket = await toldBucket(
      'told',
      { id: 'jpg', events: ['s3:ObjectCreated:*'], prefix: 'a/', suffix: '.jpg' },
      { id: 'gone', events: ['s3:ObjectRemoved:Delete'] },
      { id: 'copies', events: ['s3:ObjectCreated:Copy'], prefix: 'b/' },
    )
    for (const key of ['a/1.jpg', 'a/2.png', 'b/3.jpg']) await put(bucket, key)
    await store.objects.put(bucket, 'b/4', { ...inlineObject('1'), event: 'ObjectCreated:Copy' })
    await remove(bucket, 'a/2.png')
    await remove(bucket, 'never there')
    await store.buckets.setVersioning(bucket, 'enabled')
    await remove(bucket, 'a/1.jpg')
    assert.deepEqual(await told(bucket, 3), [
      'jpg ObjectCreated:Put a/1.jpg',
      'copies ObjectCreated:Copy b/4',
      'gone ObjectRemoved:Delete a/2.png',
    ])
  },
)

test('an event is there with its object or not at all', { skip }, async () => {
  const bucket = await toldBucket('told-once', { id: 'r', events: ALL })
  await put(bucket, 'k')
  const refused = { ...inlineObject('1'), conditions: { ifNoneMatch: '*' as const } }
  await assert.rejects(store.objects.put(bucket, 'k', refused))
  assert.deepEqual(await told(bucket, 1), ['r ObjectCreated:Put k'])
})

test('a page has no gap that a slow transaction fills later', { skip }, async () => {
  const bucket = await toldBucket('told-in-order', { id: 'r', events: ALL })
  await put(bucket, 'first')
  await pageOf(bucket, 1)
  let commit: () => void = () => undefined
  const held = new Promise<void>((resolve) => (commit = resolve))
  let begun: () => void = () => undefined
  const writing = new Promise<void>((resolve) => (begun = resolve))
  const slow = store.state.transaction(async (transaction) => {
    await transaction.query(
      `insert into storage_events (bucket, rule, name, key, version_id, size, etag, at)
       values ($1, 'r', 'ObjectCreated:Put', 'slow', 'null', 1, '', now())`,
      [bucket.id],
    )
    begun()
    await held
  })
  await writing
  await put(bucket, 'fast')
  const page = await events.list(bucket, { after: '', limit: 1000 })
  commit()
  await slow
  assert.deepEqual(
    page.events.map(({ key }) => key),
    ['first'],
  )
  assert.deepEqual(await told(bucket, 2, page.next), [
    'r ObjectCreated:Put slow',
    'r ObjectCreated:Put fast',
  ])
  const small = await events.list(bucket, { after: page.next, limit: 1 })
  assert.deepEqual(await told(bucket, 1, small.next), ['r ObjectCreated:Put fast'])
  await assert.rejects(events.list(bucket, { after: 'x', limit: 1 }), { code: 'InvalidArgument' })
})

test('an outbox that nobody reads is bounded, and its readers are told', { skip }, async () => {
  const bucket = await toldBucket('told-too-much', { id: 'r', events: ALL })
  const other = await toldBucket('told-little', { id: 'r', events: ALL })
  for (let index = 0; index < 12; index++) await put(bucket, `k${index}`)
  await put(other, 'k')
  await pageOf(bucket, 12)
  const third = await events.list(bucket, { after: '', limit: 3 })
  const ninth = await events.list(bucket, { after: '', limit: 9 })
  const nowMs = Date.now()
  // In steps, and no further than the rule says.
  assert.equal(await forgetEvents(store.state, { nowMs, limit: 4, kept: 5 }), 4)
  assert.equal(await forgetEvents(store.state, { nowMs, limit: 4, kept: 5 }), 3)
  assert.equal(await forgetEvents(store.state, { nowMs, limit: 4, kept: 5 }), 0)
  assert.deepEqual(
    await told(bucket, 5),
    [7, 8, 9, 10, 11].map((index) => `r ObjectCreated:Put k${index}`),
  )
  const missed = async (after: string) => (await events.list(bucket, { after, limit: 1 })).missed
  assert.deepEqual(
    [await missed(''), await missed(third.next), await missed(ninth.next)],
    [true, true, false],
  )
  assert.equal((await events.list(other, { after: '', limit: 1 })).missed, false)
  const later = nowMs + EVENTS_KEPT_MS + 1000
  while ((await forgetEvents(store.state, { nowMs: later, limit: 100 })) > 0);
  assert.deepEqual(await told(bucket, 0), [])
  const { rows } = await store.state.query(
    'select events_dropped::int from buckets where id = $1',
    [bucket.id],
  )
  assert.deepEqual(rows, [{ events_dropped: 12 }])
})

test('an event that is lost is told, also one whose id is not the greatest', { skip }, async () => {
  const bucket = await toldBucket('told-of-the-last', { id: 'r', events: ALL })
  await put(bucket, 'of the later transaction')
  const [only] = (await pageOf(bucket, 1)).events
  // Its transaction began before, and wrote after.
  const { rows } = await store.state.query<{ place: string; later: string }>(
    `insert into storage_events (bucket, rule, name, key, version_id, size, etag, at, transaction)
     select bucket, rule, name, 'of the earlier one', version_id, size, etag, at,
       (transaction::text::bigint - 1)::text::xid8
     from storage_events where id = $1
     returning transaction::text || '-' || id as place, (id > $1)::text as later`,
    [String(only?.id)],
  )
  assert.equal(rows[0]?.later, 'true')
  const first = await events.list(bucket, { after: '', limit: 1 })
  assert.deepEqual(
    [first.events[0]?.key, first.next],
    ['of the earlier one', rows[0]?.place],
    'readers go by transaction',
  )
  const second = await events.list(bucket, { after: first.next, limit: 1 })
  assert.deepEqual([second.events[0]?.key, second.missed], ['of the later transaction', false])
  const nowMs = Date.now() + EVENTS_KEPT_MS + 1000
  while ((await forgetEvents(store.state, { nowMs, limit: 1 })) > 0);
  const missed = async (after: string) => (await events.list(bucket, { after, limit: 1 })).missed
  assert.deepEqual(
    [await missed(''), await missed(first.next), await missed(second.next)],
    [true, true, false],
  )
})

test(
  'events of a dump that was restored elsewhere come first, and a reader of before is told',
  { skip },
  async () => {
    const bucket = await toldBucket('restored', { id: 'all', events: ALL })
    for (const key of ['a', 'b', 'c']) await put(bucket, key)
    // As the cluster of the dump numbered them.
    await store.state.query("update storage_events set transaction = '5000000'")
    assert.deepEqual(await told(bucket, 0), [])
    await migrate(store.state, SCHEMAS)
    await put(bucket, 'd')
    const keysOf = (page: EventPage) => page.events.map(({ key }) => key)
    const { next, missed, ...first } = await pageOf(bucket, 4)
    assert.deepEqual([keysOf({ next, missed, ...first }), missed], [['a', 'b', 'c', 'd'], false])
    const stale = await events.list(bucket, { after: '5000000-2', limit: 1000 })
    assert.deepEqual([keysOf(stale), stale.missed], [['a', 'b', 'c', 'd'], true])
    await put(bucket, 'e')
    assert.deepEqual(keysOf(await pageOf(bucket, 1, next)), ['e'])
    // At the next start nothing is moved again.
    await migrate(store.state, SCHEMAS)
    assert.deepEqual(keysOf(await pageOf(bucket, 1, next)), ['e'])
  },
)

test(
  'a page follows another where the number of transactions gains a digit',
  { skip },
  async () => {
    const bucket = await toldBucket('digits', { id: 'all', events: ALL })
    await put(bucket, 'a')
    await put(bucket, 'b')
    await pageOf(bucket, 2)
    // As if the second had come after the tenth transaction.
    await store.state.query(
      `update storage_events set transaction = case key when 'a' then '9'::xid8 else '10'::xid8 end where bucket = $1`,
      [bucket.id],
    )
    const first = await events.list(bucket, { after: '', limit: 1 })
    const second = await events.list(bucket, { after: first.next, limit: 1 })
    assert.deepEqual(
      [first, second].flatMap((page) => page.events.map(({ key }) => key)),
      ['a', 'b'],
    )
  },
)
