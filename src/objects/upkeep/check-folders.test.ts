// The check of the table of folders: what differs from the keys is found and mended, and nothing else is.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { createBlobStores } from '#blobs/stores.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { folderTools } from '#objects/folders.fixture.ts'
import { brokenRules, makeBucket, type Store, withStore } from '#objects/store.fixture.ts'
import type { WrongFolder } from './check-folders.ts'
import type { Queryable, State } from '#state/connect.ts'
import { createClean } from './clean.ts'

const skip = whyNoState()
const { signal } = new AbortController()
let store: Store
withStore(6, (opened) => (store = opened))

const { put, remove, listed, rowsOf, checkAll } = folderTools(() => store)

// A put alone trusts a row of own keys, so such a row hides the put's key.
test(
  'a row of own keys where no object is is found, also behind a mended one',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'stale')
    await put(bucket, 'k/1')
    const right = await rowsOf(bucket)
    await store.state.query(
      `insert into object_folders (bucket, parent, name)
     values ($1, 'o/', ''), ($1, '', 'gone/'), ($1, 'gone/', 'below/'), ($1, 'gone/below/', '')`,
      [bucket.id],
    )
    assert.equal((await brokenRules(store.state)).length > 0, true)
    await checkAll()
    assert.deepEqual(await rowsOf(bucket), right)
    await put(bucket, 'o/1')
    await put(bucket, 'gone/below/x')
    assert.deepEqual((await listed(bucket)).commonPrefixes, ['gone/', 'k/', 'o/'])
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test('rows that lack and rows too many are found and mended', { skip }, async () => {
  const bucket = await makeBucket(store, 'planted')
  const keys = ['top', 'a/1', 'a/b/1', 'a/b/2', 'a/b/c/d/1', `${'s/'.repeat(20)}deep`]
  const others = Array.from({ length: 300 }, (_, n) => `many/${n}/x`)
  await Promise.all([...keys, ...others].map((key) => put(bucket, key)))
  const right = await rowsOf(bucket)
  assert.deepEqual(await checkAll(), [])
  await store.state.query(
    `delete from object_folders where bucket = $1
       and (parent, name) in (('', 'a/'), ('a/b/', ''), ('a/b/c/', 'd/'), ('', ''), ('many/', '299/'))`,
    [bucket.id],
  )
  await store.state.query(
    `insert into object_folders (bucket, parent, name)
     values ($1, '', 'gone/'), ($1, 'gone/', 'below/'), ($1, 'gone/below/', ''), ($1, 'many/7/', 'y/')`,
    [bucket.id],
  )
  assert.deepEqual((await listed(bucket)).entries, [], 'the planted fault hides a key')
  // A row of a folder and that of its own keys name the same folder.
  const wrong = new Set((await checkAll()).map(({ key }) => key))
  assert.deepEqual([...wrong].toSorted(), [
    'a/1',
    'a/b/1',
    'a/b/c/d/1',
    'gone/',
    'gone/below/',
    'many/299/x',
    'many/7/y/',
    'top',
  ])
  assert.deepEqual(await rowsOf(bucket), right)
  assert.deepEqual(await brokenRules(store.state), [])
  assert.deepEqual(await checkAll(), [])
})

test('nothing is wrong while keys come and go', { skip }, async () => {
  const bucket = await makeBucket(store, 'come-and-go')
  const keys = ['a/b/1', 'a/b/2', 'a/c/1', 'd/1', 'd/e/f/1', 'top']
  let isOver = false
  const changes = Array.from({ length: 3 }, async (_, worker) => {
    for (let round = 0; round < 60; round++) {
      const key = keys[(round * 7 + worker * 3) % keys.length] ?? ''
      await (round % 2 === 0 ? put(bucket, key) : remove(bucket, key))
    }
  })
  const wrong: WrongFolder[] = []
  const checks = (async () => {
    while (!isOver) wrong.push(...(await checkAll()))
  })()
  await Promise.all(changes).finally(() => (isOver = true))
  await checks
  assert.deepEqual(wrong, [])
  assert.deepEqual(await brokenRules(store.state), [])
})

test('a folder that has no keys of its own any more is a range again', { skip }, async () => {
  const bucket = await makeBucket(store, 'own-keys')
  for (const key of ['x', 'a/1', 'b/c/1', 'b/2']) await put(bucket, key)
  await remove(bucket, 'x', 'b/2')
  assert.deepEqual(await rowsOf(bucket), ['a/|', 'b/c/|', 'b/|', 'b/|c/', '|', '|a/', '|b/'])
  assert.deepEqual(await checkAll(), [], 'that is no damage')
  assert.deepEqual(await rowsOf(bucket), ['a/|', 'b/c/|', 'b/|c/', '|a/', '|b/'])
  for (const key of ['y', 'b/3']) await put(bucket, key)
  assert.deepEqual(
    (await listed(bucket)).entries.map(({ key }) => key),
    ['y'],
  )
  assert.deepEqual(
    (await listed(bucket, 'b/')).entries.map(({ key }) => key),
    ['b/3'],
  )
})

test('a folder keeps its own keys while one is being put', { skip }, async () => {
  for (const [path, keys] of [
    ['', ['y']],
    ['', ['y', 'z/1']],
    ['a/', ['a/y']],
  ] as const) {
    const bucket = await makeBucket(store, `being-put-${path.length}-${keys.length}`)
    for (const key of ['x', 'a/x', 'a/b/1']) await put(bucket, key)
    await remove(bucket, 'x', 'a/x')
    await store.state.session(async (session) => {
      await session.query('begin')
      const given = [keys.map(() => bucket.id), keys]
      await session.query("select storage_enter_folders($1, $2, '[]')", given)
      await store.state.query('select storage_forget_own_keys($1, $2, 10)', [bucket.id, path])
      assert.ok((await rowsOf(bucket)).includes(`${path}|`), `${keys.join()} of ${path}`)
      await session.query('rollback')
    })
    await store.state.query('select storage_forget_own_keys($1, $2, 10)', [bucket.id, path])
    assert.ok(!(await rowsOf(bucket)).includes(`${path}|`))
  }
})

/** A state whose statements with this text fail, while the fault is planted. */
function failing(text: string) {
  const planted = { isThere: true }
  const query: Queryable['query'] = (statement, values) =>
    planted.isThere && statement.includes(text)
      ? Promise.reject(new Error('planted'))
      : store.state.query(statement, values)
  return { planted, state: { ...store.state, query } as State }
}

for (const [what, text] of [
  ['the mend', 'storage_mend_folders'],
  ['the alarm', 'raise_alarm'],
  ['the place', 'insert into storage_upkeep'],
] as const)
  test(
    `a check in which ${what} fails leaves an alarm or finds the fault again`,
    { skip },
    async () => {
      await store.state.query("delete from storage_upkeep where task like 'folders:%'")
      await store.state.query('truncate alarms')
      const bucket = await makeBucket(store, `fails-${text.replaceAll(/[ _]/g, '-')}`)
      await put(bucket, 'a/1')
      await store.state.query('delete from object_folders where bucket = $1', [bucket.id])
      const { planted, state } = failing(text)
      const log = createLogger('test', { write: () => undefined })
      const clean = createClean({ state, stores: createBlobStores([]), clock: systemClock, log })
      const alarms = async () => {
        const { rows } = await store.state.query<{ bucket: number }>(
          "select (detail ->> 'bucket')::int as bucket from alarms where kind = 'folders_wrong'",
        )
        return rows.map((alarm) => alarm.bucket)
      }
      await assert.rejects(clean(signal), /planted/)
      assert.deepEqual(await alarms(), text === 'raise_alarm' ? [] : [bucket.id])
      // No alarm, no mend: nothing else would tell of the fault.
      const isMended = (await listed(bucket)).commonPrefixes.length > 0
      assert.equal(isMended, text === 'insert into storage_upkeep')
      planted.isThere = false
      await clean(signal)
      assert.deepEqual(await alarms(), [bucket.id])
      assert.deepEqual((await listed(bucket)).commonPrefixes, ['a/'])
    },
  )

test(
  'a folder that cannot be mended is told, and stops the check of no other bucket',
  { skip },
  async () => {
    await store.state.query("delete from storage_upkeep where task like 'folders:%'")
    await store.state.query('truncate alarms')
    const bad = await makeBucket(store, 'bad-page')
    const good = await makeBucket(store, 'good-page')
    for (const bucket of [bad, good]) {
      await put(bucket, 'a/1')
      await store.state.query('delete from object_folders where bucket = $1', [bucket.id])
      // That no key lacks, so the second pass finds it.
      await store.state.query("insert into object_folders values ($1, '', 'gone/')", [bucket.id])
    }
    const unreadable = Object.assign(new Error('invalid page in block 3'), { code: 'XX001' })
    const query: Queryable['query'] = (statement, values) =>
      statement.includes('storage_mend_folders') && values?.[0] === bad.id
        ? Promise.reject(unreadable)
        : store.state.query(statement, values)
    const state = { ...store.state, query } as State
    const log = createLogger('test', { write: () => undefined })
    const cleanOf = (of: State) =>
      createClean({ state: of, stores: createBlobStores([]), clock: systemClock, log })
    const clean = cleanOf(state)
    await assert.rejects(clean(signal), /invalid page in block 3/)
    assert.deepEqual((await listed(good)).commonPrefixes, ['a/'])
    const { rows } = await store.state.query<{ kind: string; detail: { task?: string } }>(
      'select kind, detail from alarms order by kind',
    )
    assert.deepEqual(
      rows.map(({ kind, detail: { task } }) => [kind, task]),
      [
        ['folders_wrong', undefined],
        ['folders_wrong', undefined],
        ['page_damaged', 'folders'],
      ],
    )
    // The next round ends as well, and meets the same fault.
    await assert.rejects(clean(signal), /invalid page in block 3/)
    await cleanOf(store.state)(signal)
    assert.deepEqual((await listed(bad)).commonPrefixes, ['a/'])
  },
)

test('the upkeep tells the operator once for a bucket', { skip }, async () => {
  await store.state.query("delete from storage_upkeep where task like 'folders:%'")
  await store.state.query('truncate alarms')
  const bucket = await makeBucket(store, 'alarmed')
  for (const key of ['a/1', 'b/1']) await put(bucket, key)
  const lines: string[] = []
  const clean = createClean({
    state: store.state,
    stores: createBlobStores([]),
    clock: systemClock,
    log: createLogger('test', { write: (line) => void lines.push(line) }),
  })
  for (let round = 0; round < 2; round++) {
    await store.state.query('delete from object_folders where bucket = $1', [bucket.id])
    await clean(signal)
    assert.deepEqual((await listed(bucket)).commonPrefixes, ['a/', 'b/'])
  }
  const { rows } = await store.state.query<{ detail: object }>(
    "select detail from alarms where kind = 'folders_wrong'",
  )
  assert.deepEqual(
    rows.map(({ detail }) => detail),
    [{ bucket: bucket.id, folder: 'a/1', others: 1 }],
  )
  assert.match(lines.join(), /The table of folders differs from the keys/)
})
