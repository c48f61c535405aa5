import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { createBlobStores } from '#blobs/stores.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { inlineObject, makeBucket, type Store, withStore } from '#objects/store.fixture.ts'
import type { RowDamage } from '#objects/damage.ts'
import { createClean } from './clean.ts'
import { ANNOTATIONS, BODIES, type RowPass, type RowScrub, scrubRows } from './scrub-rows.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const none = async () => undefined
const quiet = { signal, onDamage: none, onUnreadable: none }
let store: Store
withStore(2, (opened) => (store = opened))

/** The queries of a round. */
async function piecesOf(table: string, { blocksMax }: RowPass): Promise<number> {
  const { rows } = await store.state.query<{ blocks: number }>(
    'select (pg_relation_size($1::regclass) / 8192)::int as blocks',
    [table],
  )
  return Math.ceil((rows[0]?.blocks ?? 0) / blocksMax)
}

test(
  'scrubRows() reads every body in a row, a piece at a time, and finds a changed one',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'scrubbed-rows')
    for (let n = 0; n < 250; n++)
      await store.objects.put(bucket, `k${n}`, inlineObject(`body ${n}`))
    const change = (key: string, set: string) =>
      store.state.query(`update object_versions set ${set} where bucket = $1 and key = $2`, [
        bucket.id,
        key,
      ])
    await store.state.query('update object_versions set etag = md5(inline)')
    await change('k7', "inline = 'changed'")
    await change('k8', "inline = 'changed', encryption = '{}'")
    // A copy of an object that was uploaded in parts has the ETag of that, and no parts.
    await change('k9', "etag = md5(inline) || '-2'")
    const found: string[] = []
    let read = 0
    const onDamage = async (damaged: readonly RowDamage[]) =>
      void found.push(...damaged.map(({ key }) => key))
    const pieces = await piecesOf('object_versions', BODIES)
    assert.ok(pieces > 1)
    for (let calls = 1; calls <= pieces; calls++) {
      const slice = await scrubRows(store.state, BODIES, { ...quiet, bytesMax: 100, onDamage })
      read += slice.read
      assert.equal(slice.done, calls === pieces)
    }
    assert.deepEqual(found, ['k7'])
    assert.ok(read > 250 * 6)
    const whole = { ...quiet, bytesMax: 1e9 }
    assert.equal((await scrubRows(store.state, BODIES, whole)).read, read)
  },
)

test('rows without bodies are read a piece at a time as well', { skip }, async () => {
  await store.state.query('truncate object_versions')
  const bucket = await makeBucket(store, 'bodiless')
  for (let n = 0; n < 500; n++) await store.objects.put(bucket, `k${n}`, inlineObject(''))
  const pieces = await piecesOf('object_versions', BODIES)
  assert.ok(pieces > 1)
  // Less than the rows of a query count for, and more than its blocks do.
  const dones: boolean[] = []
  for (let calls = 0; calls < pieces; calls++)
    dones.push((await scrubRows(store.state, BODIES, { ...quiet, bytesMax: 80 * 1024 })).done)
  assert.deepEqual(dones, [...Array<boolean>(pieces - 1).fill(false), true])
  assert.ok((await scrubRows(store.state, BODIES, { ...quiet, bytesMax: 1e9 })).done)
})

test('a damaged body is one alarm, however often it is found', { skip }, async () => {
  await store.state.query('truncate object_versions')
  const bucket = await makeBucket(store, 'alarmed')
  await store.objects.put(bucket, 'a', inlineObject('whole'))
  await store.state.query("update object_versions set etag = md5(inline), inline = 'other'")
  const lines: string[] = []
  const clean = createClean({
    state: store.state,
    stores: createBlobStores([]),
    clock: systemClock,
    log: createLogger('test', { write: (line) => void lines.push(line) }),
  })
  for (let rounds = 0; rounds < 2; rounds++) await clean(signal)
  const { rows } = await store.state.query("select detail from alarms where kind = 'body_damaged'")
  assert.deepEqual(
    rows.map(({ detail }) => (detail as { key: string }).key),
    ['a'],
  )
  assert.match(lines.join(), /A stored body is damaged/)
})

test('a damaged body that nobody could be told of is found again', { skip }, async () => {
  await store.state.query('truncate object_versions')
  await store.state.query("delete from storage_upkeep where task like 'scrub:%'")
  const bucket = await makeBucket(store, 'untold')
  for (let n = 0; n < 201; n++) await store.objects.put(bucket, `a${n}`, inlineObject('whole'))
  await store.state.query(
    "update object_versions set etag = md5(inline), inline = 'other' where key = 'a0'",
  )
  const away = () => Promise.reject(new Error('away'))
  // The first page, so that a place is kept.
  const scrubOnce = (onDamage: (damaged: readonly RowDamage[]) => Promise<void>) =>
    scrubRows(store.state, BODIES, { ...quiet, bytesMax: 1, onDamage })
  await assert.rejects(scrubOnce(away), /away/)
  const found: string[] = []
  await scrubOnce(async (damaged) => void found.push(...damaged.map(({ key }) => key)))
  assert.deepEqual(found, ['a0'])
})

/** A state in which no query that computes the row of this key answers. */
async function unreadable(key: string, error: Error): Promise<State> {
  const { rows } = await store.state.query<{ at: string }>(
    'select ctid::text as at from object_versions where key = $1',
    [key],
  )
  const numbers = (at: unknown) => String(at).slice(1, -1).split(',').map(Number)
  const numberOf = (at: unknown) => numbers(at).reduce((block, row) => block * 1e6 + row)
  const at = numberOf(rows[0]?.at)
  const query: State['query'] = async (text, values) => {
    const [read, low, high] = values ?? []
    if (read === BODIES.read && numberOf(low) <= at && at < numberOf(high)) throw error
    return await store.state.query(text, values)
  }
  return { ...store.state, query }
}

test(
  'a row that cannot be read is told and stepped over, and hides none behind it',
  { skip },
  async () => {
    await store.state.query('truncate object_versions')
    await store.state.query("delete from storage_upkeep where task like 'scrub:%'")
    const bucket = await makeBucket(store, 'stepped-over')
    for (const key of ['a', 'b', 'c']) await store.objects.put(bucket, key, inlineObject('whole'))
    await store.state.query(
      "update object_versions set etag = md5(inline), inline = 'other' where key = 'c'",
    )
    const broken = Object.assign(new Error('invalid page in block 7'), { code: 'XX001' })
    const found: string[] = []
    const told: unknown[] = []
    const state = await unreadable('b', broken)
    const scrubOnce = (onUnreadable: RowScrub<RowDamage>['onUnreadable']) =>
      scrubRows(state, BODIES, {
        ...quiet,
        bytesMax: 1e6,
        onUnreadable,
        onDamage: async (damaged) => void found.push(...damaged.map(({ key }) => key)),
      })
    await assert.rejects(
      scrubOnce(() => Promise.reject(new Error('untold'))),
      /untold/,
    )
    assert.deepEqual(found, [])
    await assert.rejects(
      scrubOnce(async (error, place) => void told.push(error, place?.key)),
      broken,
    )
    assert.deepEqual([found, told], [['c'], [broken, 'b']])
  },
)

const addAnnotations = (sheet: number, count: number) =>
  store.state.query(
    `insert into object_annotations (sheet, name, size, etag, checksums, modified_at, salt, body)
     select $1, 'name-' || n, 9000, 'e', '{}', now(), '', decode(repeat('ab', 9000), 'hex')
     from generate_series(1, $2) n`,
    [sheet, count],
  )

test('scrubRows() reads every annotation, a piece at a time', { skip }, async () => {
  await store.state.query('truncate object_annotations')
  await addAnnotations(-5, 200)
  await addAnnotations(7, 200)
  const pieces = await piecesOf('object_annotations', ANNOTATIONS)
  assert.ok(pieces > 1)
  let read = 0
  for (let calls = 1; calls <= pieces; calls++) {
    const slice = await scrubRows(store.state, ANNOTATIONS, { ...quiet, bytesMax: 1 })
    read += slice.read
    assert.equal(slice.done, calls === pieces)
  }
  assert.equal(read, 400 * 9000)
})

test('scrubRows() reads large annotations of one block in pieces', { skip }, async () => {
  await store.state.query('truncate object_annotations')
  await store.state.query(
    `insert into object_annotations (sheet, name, size, etag, checksums, modified_at, salt, body)
     select 1, 'name-' || n, 600000, 'e', '{}', now(), '', convert_to(repeat('ab', 300000), 'UTF8')
     from generate_series(1, 7) n`,
  )
  assert.equal(await piecesOf('object_annotations', ANNOTATIONS), 1)
  const slices: { read: number; done: boolean }[] = []
  while (slices.at(-1)?.done !== true && slices.length < 10)
    slices.push(await scrubRows(store.state, ANNOTATIONS, { ...quiet, bytesMax: 1 }))
  assert.deepEqual(slices, [
    { read: 1_200_000, done: false },
    { read: 1_200_000, done: false },
    { read: 1_200_000, done: false },
    { read: 600_000, done: true },
  ])
  const whole = await scrubRows(store.state, ANNOTATIONS, { ...quiet, bytesMax: 1e9 })
  assert.deepEqual(whole, { read: 7 * 600_000, done: true })
})

test('a page that cannot be read is an alarm, and fails each round', { skip }, async () => {
  await store.state.query('truncate object_annotations, alarms')
  await addAnnotations(1, 1)
  const broken = Object.assign(new Error('invalid page in block 7'), { code: 'XX001' })
  const query = store.state.query.bind(store.state)
  const state = {
    ...store.state,
    query: (text: string, values?: readonly unknown[]) =>
      [ANNOTATIONS.read, ANNOTATIONS.name].includes(String(values?.[0]))
        ? Promise.reject(broken)
        : query(text, values),
  } as State
  const clean = createClean({
    state,
    stores: createBlobStores([]),
    clock: systemClock,
    log: createLogger('test', { write: () => undefined }),
  })
  for (let rounds = 0; rounds < 2; rounds++) await assert.rejects(clean(signal), broken)
  const { rows } = await store.state.query("select detail from alarms where kind = 'page_damaged'")
  assert.deepEqual(rows, [
    { detail: { task: 'scrub:annotations', found: 'invalid page in block 7' } },
  ])
})
