// The check of folders beside changes, markers, neighbours and limits: each test is red for one wrong line of the check.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { folderTools } from '#objects/folders.fixture.ts'
import { brokenRules, makeBucket, type Store, withStore } from '#objects/store.fixture.ts'
import type { Bucket } from '#objects/types.ts'

const skip = whyNoState()
let store: Store
withStore(6, (opened) => (store = opened))
const { put, remove, listed, rowsOf, checkAll } = folderTools(() => store)

const forget = (bucket: Bucket, path: string, most = 10) =>
  store.state.query('select storage_forget_own_keys($1, $2, $3)', [bucket.id, path, most])
const plant = (bucket: Bucket, ...rows: [parent: string, name: string][]) =>
  store.state.query(
    `insert into object_folders (bucket, parent, name)
     select $1, p, n from unnest($2::text[], $3::text[]) r (p, n)`,
    [bucket.id, rows.map(([parent]) => parent), rows.map(([, name]) => name)],
  )

test('own keys that came since the check looked keep their row', { skip }, async () => {
  const bucket = await makeBucket(store, 'came-since')
  for (const key of ['x', 'a/1', 'a/b/1']) await put(bucket, key)
  for (const path of ['', 'a/']) await forget(bucket, path)
  assert.deepEqual(await rowsOf(bucket), ['a/b/|', 'a/|', 'a/|b/', '|', '|a/'])
  assert.deepEqual(
    (await listed(bucket)).entries.map(({ key }) => key),
    ['x'],
  )
})

test('own keys behind more folders than the search reads keep their row', { skip }, async () => {
  const bucket = await makeBucket(store, 'behind-many')
  for (const key of ['a/1', 'b/1', 'c/1', 'z']) await put(bucket, key)
  for (const most of [1, 2, 3, 4]) {
    await forget(bucket, '', most)
    assert.ok((await rowsOf(bucket)).includes('|'), `a search of ${most}`)
  }
  await remove(bucket, 'z')
  await forget(bucket, '', 3)
  assert.ok((await rowsOf(bucket)).includes('|'), 'three folders may have a key behind them')
  await forget(bucket, '', 4)
  assert.ok(!(await rowsOf(bucket)).includes('|'))
})

test(
  'a mend waits for the deletion of its key, and makes no rows of a deleted key',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'mended-beside')
    await put(bucket, 'a/1')
    const mending = await store.state.session(async (session) => {
      await session.query('begin')
      await session.query(`select * from storage_delete($1, '[{"key": "a/1"}]', false)`, [
        bucket.id,
      ])
      const { rows } = await session.query('select pg_backend_pid() as pid')
      const blocked = 'select from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))'
      const mend = store.state.query('select storage_mend_folders($1, $2)', [bucket.id, 'a/1'])
      while ((await store.state.query(blocked, [rows[0]?.['pid']])).rowCount === 0);
      await session.query('commit')
      return { mend }
    })
    await mending.mend
    assert.deepEqual(await rowsOf(bucket), [])
  },
)

test(
  'a marker is no object: its key needs no rows, and its folder is one too many',
  { skip },
  async () => {
    await makeBucket(store, 'only-markers')
    await store.buckets.setVersioning(await store.buckets.get('only-markers'), 'enabled')
    const bucket = await store.buckets.get('only-markers')
    for (const key of ['m/1', 'k/1']) await put(bucket, key)
    await remove(bucket, 'm/1')
    assert.deepEqual(await checkAll(), [])
    await plant(bucket, ['', 'm/'], ['m/', ''])
    // The row of a folder and that of its own keys name the same folder.
    assert.deepEqual(new Set((await checkAll()).map(({ key }) => key)), new Set(['m/']))
    assert.deepEqual(await rowsOf(bucket), ['k/|', '|k/'])
  },
)

test(
  'the first key of a bucket is checked, also behind a key of the same name',
  { skip },
  async () => {
    const buckets: Bucket[] = []
    for (const name of ['first-of-three', 'second-of-three', 'third-of-three']) {
      const bucket = await makeBucket(store, name)
      await put(bucket, 'same/1')
      buckets.push(bucket)
    }
    const ids = buckets.map(({ id }) => id)
    await store.state.query('delete from object_folders where bucket = any ($1)', [ids])
    const wrong = await checkAll()
    assert.deepEqual(
      wrong.map((one) => one.bucket),
      ids,
    )
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test(
  'parents of 256 bytes and seven slashes have rows, and longer and deeper ones none',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'at-the-limit')
    for (const length of [255, 256]) await put(bucket, `${'x'.repeat(length)}/k`)
    for (const depth of [7, 8]) await put(bucket, `${'s/'.repeat(depth)}k`)
    const right = [
      ...[0, 1, 2, 3, 4, 5, 6, 7].map((depth) => `${'s/'.repeat(depth)}|s/`),
      `${'s/'.repeat(7)}|`,
      `|${'x'.repeat(255)}/`,
      `|${'x'.repeat(256)}/`,
      `${'x'.repeat(255)}/|`,
    ]
    assert.deepEqual((await rowsOf(bucket)).toSorted(), right.toSorted())
    assert.deepEqual(await checkAll(), [])
    assert.deepEqual((await rowsOf(bucket)).toSorted(), right.toSorted())
    await remove(bucket, ...[255, 256].map((length) => `${'x'.repeat(length)}/k`))
    await remove(bucket, ...[7, 8].map((depth) => `${'s/'.repeat(depth)}k`))
    assert.deepEqual(await rowsOf(bucket), [])
  },
)
