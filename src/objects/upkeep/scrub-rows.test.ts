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
import { ANNOTATIONS, BODIES, scrubRows } from './scrub-rows.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const none = async () => undefined
const quiet = { signal, onDamage: none, onUnreadable: none }
let store: Store
withStore(2, (opened) => (store = opened))

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
    for (let calls = 1; ; calls++) {
      const slice = await scrubRows(store.state, BODIES, {
        ...quiet,
        bytesMax: 100,
        onDamage,
      })
      read += slice.read
      assert.equal(slice.done, calls === 2)
      if (slice.done) break
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
  for (let n = 0; n < 250; n++) await store.objects.put(bucket, `k${n}`, inlineObject(''))
  const doneAfter = async (bytesMax: number) =>
    (await scrubRows(store.state, BODIES, { ...quiet, bytesMax })).done
  // 200 rows, the other 50, and all of them.
  assert.deepEqual(
    [await doneAfter(200 * 1024), await doneAfter(200 * 1024), await doneAfter(201 * 1024)],
    [false, true, true],
  )
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
  await store.state.query("delete from storage_upkeep where task = 'scrub:rows'")
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

/** A state in which each statement with this text meets `error`, when it would answer with a row of this key. */
function unreadable(key: string, error: Error): State {
  const query: State['query'] = async (text, values) => {
    const answer = await store.state.query(text, values)
    const isMet = text === BODIES.next && JSON.stringify(answer.rows).includes(`"${key}"`)
    if (isMet) throw error
    return answer as never
  }
  return { ...store.state, query }
}

test(
  'a row that cannot be read is told and stepped over, and hides none behind it',
  { skip },
  async () => {
    await store.state.query('truncate object_versions')
    await store.state.query("delete from storage_upkeep where task = 'scrub:rows'")
    const bucket = await makeBucket(store, 'stepped-over')
    for (const key of ['a', 'b', 'c']) await store.objects.put(bucket, key, inlineObject('whole'))
    await store.state.query(
      "update object_versions set etag = md5(inline), inline = 'other' where key = 'c'",
    )
    const broken = Object.assign(new Error('invalid page in block 7'), { code: 'XX001' })
    const found: string[] = []
    const told: unknown[] = []
    const scrubOnce = (onUnreadable: (error: unknown) => Promise<void>) =>
      scrubRows(unreadable('b', broken), BODIES, {
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
      scrubOnce(async (error) => void told.push(error)),
      broken,
    )
    assert.deepEqual([found, told], [['c'], [broken]])
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
  await addAnnotations(-5, 20)
  await addAnnotations(7, 20)
  const reads: number[] = []
  for (let done = false; !done;) {
    const slice = await scrubRows(store.state, ANNOTATIONS, {
      ...quiet,
      bytesMax: 1,
    })
    reads.push(slice.read)
    done = slice.done
  }
  assert.deepEqual(reads, [16 * 9000, 16 * 9000, 8 * 9000])
})

test('a page that cannot be read is an alarm, and fails each round', { skip }, async () => {
  await store.state.query('truncate object_annotations, alarms')
  await addAnnotations(1, 1)
  const broken = Object.assign(new Error('invalid page in block 7'), { code: 'XX001' })
  const query = store.state.query.bind(store.state)
  const state = {
    ...store.state,
    query: (text: string, values?: readonly unknown[]) =>
      text === ANNOTATIONS.next ? Promise.reject(broken) : query(text, values),
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
