import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { folderTools } from './folders.fixture.ts'
import {
  ACCOUNT,
  askedOnce,
  attributes,
  brokenRules,
  inlineObject,
  makeBucket,
  openStore,
  part,
  type Store,
  withStore,
} from './store.fixture.ts'
import type { Bucket } from './types.ts'

const skip = whyNoState()
const BACKFILL = new URL('./schema/0230_folders.sql', import.meta.url)
const LIST = { prefix: '', delimiter: '/', after: '', limit: 1000 }
const FEW = 12
const LARGE = 3000
let store: Store
withStore(FEW, (opened) => (store = opened))

const { put, remove, rowsOf } = folderTools(() => store)
const commonOf = async (bucket: Bucket, prefix = '') =>
  (await store.listings.objects(bucket, { ...LIST, prefix })).commonPrefixes

test('a folder is there from its first object to its last', { skip }, async () => {
  const bucket = await makeBucket(store, 'first-and-last')
  await put(bucket, 'a/b/c')
  await put(bucket, 'a/b/d')
  assert.deepEqual(await rowsOf(bucket), ['a/b/|', 'a/|b/', '|a/'])
  await remove(bucket, 'a/b/c')
  assert.deepEqual(await commonOf(bucket, 'a/'), ['a/b/'])
  await remove(bucket, 'a/b/d')
  assert.deepEqual(await rowsOf(bucket), [])
  assert.deepEqual(await commonOf(bucket), [])
})

test('an upload in parts makes the folders of its key', { skip }, async () => {
  const bucket = await makeBucket(store, 'parts')
  const key = 'p/q'
  const begun = await store.uploads.create(bucket, {
    key,
    initiator: ACCOUNT,
    attributes: attributes('', 0),
  })
  const name = { key, uploadId: begun.id }
  await store.uploads.putPart(bucket, name, part(1, 5, 'p'))
  assert.deepEqual(await commonOf(bucket), [])
  await store.uploads.complete(bucket, name, {
    parts: [{ number: 1, etag: 'p' }],
    compose: () => ({ etag: 'e', checksums: {} }),
  })
  assert.deepEqual(await commonOf(bucket), ['p/'])
  assert.deepEqual(await brokenRules(store.state), [])
})

test('a refused put makes no folder', { skip }, async () => {
  const bucket = await makeBucket(store, 'refused')
  await assert.rejects(put(bucket, 'a/b', { ifMatch: ['e'] }), { code: 'NoSuchKey' })
  assert.deepEqual(await rowsOf(bucket), [])
  await put(bucket, 'a/b', { ifNoneMatch: '*' })
  await assert.rejects(put(bucket, 'a/b', { ifNoneMatch: '*' }), { code: 'PreconditionFailed' })
  assert.deepEqual(await commonOf(bucket), ['a/'])
})

test(
  'a marker hides the folder of its key, and shows it again when it goes',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'markers')
    await store.buckets.setVersioning(bucket, 'enabled')
    const versioned = await store.buckets.get('markers')
    await put(versioned, 'a/b/c')
    const [marker] = await remove(versioned, 'a/b/c')
    assert.deepEqual(await commonOf(versioned), [])
    assert.ok(marker !== undefined && 'versionId' in marker && marker.versionId !== undefined)
    await store.objects.delete(versioned, [{ key: 'a/b/c', versionId: marker.versionId }], {
      bypassGovernance: false,
    })
    assert.deepEqual(await commonOf(versioned, 'a/'), ['a/b/'])
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test('a page of folders and keys is in order, and goes on where it ended', { skip }, async () => {
  const bucket = await makeBucket(store, 'mixed')
  for (const key of ['a!', 'a/1', 'a/2', 'a0', 'b/', 'b/c/1', 'b/d']) await put(bucket, key)
  const pages = []
  for (let after = '', more = true; more;) {
    const page = await store.listings.objects(bucket, { ...LIST, after, limit: 1 })
    pages.push(...page.entries.map(({ key }) => key), ...page.commonPrefixes)
    ;[after, more] = [page.last, page.truncated]
  }
  assert.deepEqual(pages, ['a!', 'a/', 'a0', 'b/'])
  assert.deepEqual(await commonOf(bucket, 'b/'), ['b/c/'])
})

test('a key of many slashes has few rows, and is listed below all of them', { skip }, async () => {
  const bucket = await makeBucket(store, 'deep')
  const deep = `${'s/'.repeat(300)}end`
  const long = `${'l'.repeat(250)}/${'m'.repeat(250)}/${'n'.repeat(250)}/end`
  for (const key of [deep, long]) await put(bucket, key)
  assert.equal((await rowsOf(bucket)).length, 8 + 2)
  for (const depth of [0, 6, 7, 8, 9, 299])
    assert.deepEqual(
      await commonOf(bucket, 's/'.repeat(depth)).then((all) => all[0]),
      depth === 0 ? `${'l'.repeat(250)}/` : 's/'.repeat(depth + 1),
    )
  assert.deepEqual(await commonOf(bucket, long.slice(0, 502)), [long.slice(0, -3)])
  await remove(bucket, deep, long)
  assert.deepEqual(await rowsOf(bucket), [])
})

test('folders of an older state are found at its first start', { skip }, async () => {
  const bucket = await makeBucket(store, 'older')
  for (const key of ['x', 'a/1', 'a//2', `${'s/'.repeat(20)}é`, `${'l'.repeat(300)}/m/n`])
    await put(bucket, key)
  const before = await rowsOf(bucket)
  await store.state.query('delete from object_folders')
  assert.notDeepEqual(await brokenRules(store.state), [])
  const [, fill] = readFileSync(BACKFILL, 'utf8').split(/^-- The rows of .*$/m)
  await store.state.query(fill ?? '')
  assert.deepEqual(await rowsOf(bucket), before)
  assert.deepEqual(await brokenRules(store.state), [])
})

test('a deletion of keys that are no objects holds no folder', { skip }, async () => {
  const bucket = await makeBucket(store, 'absent')
  const held = await store.state.transaction(async (transaction) => {
    await transaction.query('select * from storage_delete($1, $2, false)', [
      bucket.id,
      JSON.stringify([{ key: 'a/b/c/d' }]),
    ])
    const { rows } = await transaction.query<{ count: number }>(
      `select count(*)::int as count from pg_locks
       where locktype = 'advisory' and classid = 4207721 and pid = pg_backend_pid()`,
    )
    return rows[0]?.count
  })
  assert.equal(held, 0)
})

test('a folder that was large is left without a scan of all objects', { skip }, async () => {
  const bucket = await makeBucket(store, 'was-large')
  const keys = Array.from({ length: LARGE }, (_, n) => `old/${n}`)
  for (let at = 0; at < LARGE; at += 1000)
    await Promise.all(keys.slice(at, at + 1000).map((key) => put(bucket, key)))
  await store.state.query('vacuum analyze object_versions')
  await remove(bucket, ...keys)
  await put(bucket, 'old/x')
  const scans = await store.state.transaction(async (transaction) => {
    const count = async () => {
      const { rows } = await transaction.query<{ scans: number }>(
        `select seq_scan::int as scans from pg_stat_xact_user_tables where relid = 'object_versions'::regclass`,
      )
      return rows[0]?.scans ?? 0
    }
    const before = await count()
    await transaction.query('select * from storage_delete($1, $2, false)', [
      bucket.id,
      JSON.stringify([{ key: 'old/x' }]),
    ])
    return (await count()) - before
  })
  assert.equal(scans, 0)
  assert.deepEqual(await rowsOf(bucket), [])
})

test(
  'a connection that knew small tables deletes from large ones without a scan',
  { skip },
  async () => {
    await using server = await openTestUrl()
    await using fresh = await openStore(server.of, 2)
    const bucket = await makeBucket(fresh, 'was-small')
    const putAll = (keys: readonly string[]) =>
      Promise.all(keys.map((key) => fresh.objects.put(bucket, key, inlineObject(key))))
    const files = (folders: number) =>
      Array.from({ length: folders }, (_, n) => [`t/${n}/a`, `t/${n}/b/c`]).flat()
    await fresh.state.session(async (session) => {
      const removeAll = (keys: readonly string[]) =>
        session.query('select * from storage_delete($1, $2, false)', [
          bucket.id,
          JSON.stringify(keys.map((key) => ({ key }))),
        ])
      const rowsScanned = async () => {
        await session.query('select pg_stat_force_next_flush()')
        const { rows } = await session.query<{ rows: number }>(
          `select sum(seq_tup_read)::int as rows from pg_stat_user_tables
         where relid in ('object_versions'::regclass, 'object_folders'::regclass)`,
        )
        return rows[0]?.rows ?? 0
      }
      // Six runs of a statement: from then on its plan is kept.
      await putAll(['other'])
      await session.query('analyze object_versions, object_folders')
      for (let run = 0; run < 6; run++) {
        await putAll(files(2))
        await removeAll(files(2))
      }
      await putAll(files(500))
      const before = await rowsScanned()
      await removeAll(files(500))
      assert.equal((await rowsScanned()) - before, 0)
    })
  },
)

test('the second of two deletions of the last keys removes the folder', { skip }, async () => {
  const bucket = await makeBucket(store, 'last-two')
  for (let round = 0; round < 20; round++) {
    await Promise.all(['a/b/1', 'a/b/2', 'a/c/3'].map((key) => put(bucket, key)))
    await Promise.all(['a/b/1', 'a/b/2', 'a/c/3'].map((key) => remove(bucket, key)))
    assert.deepEqual(await rowsOf(bucket), [])
  }
})

test('puts and deletions at once leave the folders of what is there', { skip }, async () => {
  const bucket = await makeBucket(store, 'at-once')
  const once = askedOnce(store.state)
  const written = JSON.stringify([
    { ...inlineObject('x').attributes, event: 'ObjectCreated:Put', partCount: 0 },
  ])
  // Statements of their own, which no pool repeats after a deadlock.
  const acts = {
    put: (key: string) =>
      once.query("select * from storage_put_all($1, $2, $3, 'x', '{1}', '{1}')", [
        [bucket.id],
        [key],
        written,
      ]),
    remove: (keys: readonly string[]) =>
      once.query('select * from storage_delete($1, $2, false)', [
        bucket.id,
        JSON.stringify(keys.map((key) => ({ key }))),
      ]),
  }
  const keys = ['a/b/1', 'a/b/2', 'a/c/1', 'd/1', 'd/e/f/1', 'd/e/g/1', 'top']
  const random = (n: number, salt: number) => Math.imul(n + salt * 7919, 2_654_435_761) >>> 7
  for (let round = 0; round < 40; round++) {
    await Promise.all(
      Array.from({ length: FEW }, (_, n) => {
        const at = random(round * FEW + n, 1)
        const key = keys[at % keys.length] ?? ''
        const other = keys[random(at, 2) % keys.length] ?? ''
        return at % 3 === 0 ? acts.put(key) : acts.remove([key, other])
      }),
    )
    assert.deepEqual(await brokenRules(store.state), [], `round ${round}`)
  }
})

test('a deletion waits for a put into its folder, alone or beside others', { skip }, async () => {
  const bucket = await makeBucket(store, 'waits')
  for (const keys of [['a/2'], ['a/2', 'b/2', 'c']]) {
    await put(bucket, 'a/1')
    let gone: Promise<unknown> = Promise.resolve()
    await store.state.session(async (session) => {
      await session.query('begin')
      await session.query('select storage_enter_folders($1, $2, $3)', [
        keys.map(() => bucket.id),
        keys,
        '[]',
      ])
      gone = remove(bucket, 'a/1')
      const first = await Promise.race([gone.then(() => 'gone'), pause(300).then(() => 'waits')])
      await session.query('rollback')
      assert.equal(first, 'waits')
    })
    await gone
    assert.deepEqual(await rowsOf(bucket), [])
  }
})

/** The number of the lock of a folder. */
const lockOf = async (bucket: Bucket, path: string) =>
  (
    await store.state.query<{ lock: number }>('select storage_folder_lock($1, $2) as lock', [
      bucket.id,
      path,
    ])
  ).rows[0]?.lock
/** Enters the folders of keys in a transaction of its own; its process, and its end. */
async function enterFolders(bucket: Bucket, keys: readonly string[]) {
  const begun = Promise.withResolvers<number>()
  const ended = store.state.session(async (session) => {
    await session.query('begin')
    const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid')
    begun.resolve(rows[0]?.pid ?? 0)
    const bucketIds = keys.map(() => bucket.id)
    await session.query("select storage_enter_folders($1, $2, '[]')", [bucketIds, keys])
    await session.query('commit')
  })
  ended.catch(() => undefined)
  return { pid: await begun.promise, ended }
}
async function untilWaiting(pid: number): Promise<void> {
  for (let tries = 0; ; tries++) {
    const { rowCount } = await store.state.query(
      'select from pg_locks where pid = $1 and not granted',
      [pid],
    )
    if (rowCount > 0) return
    assert.ok(tries < 1000, 'it waits for nothing')
    await pause(10)
  }
}

// A deletion goes from a folder to the one above: a put that held that one, and waited for the deeper one, would be a
// deadlock with it.
test('a put that waits for a folder holds none above it', { skip }, async () => {
  const bucket = await makeBucket(store, 'deeper-first')
  const { above, put: entering } = await store.state.session(async (session) => {
    await session.query('begin')
    const lock = 'select pg_advisory_xact_lock(4207721, $1)'
    await session.query(lock, [await lockOf(bucket, 'a/b/')])
    const entered = await enterFolders(bucket, ['a/b/c', 'd/e'])
    await untilWaiting(entered.pid)
    const free = 'select pg_try_advisory_xact_lock(4207721, $1) as free'
    const { rows } = await session.query<{ free: boolean }>(free, [await lockOf(bucket, 'a/')])
    await session.query('rollback')
    return { above: rows[0]?.free, put: entered }
  })
  await entering.ended
  assert.equal(above, true)
})

// Of two batches that make the same folders each would wait for a row of the other.
test('folders are made in one order', { skip }, async () => {
  const bucket = await makeBucket(store, 'one-order')
  const entering = await store.state.session(async (session) => {
    await session.query("begin; set local lock_timeout = '5s'")
    const insert = "insert into object_folders (bucket, parent, name) values ($1, '', $2)"
    await session.query(insert, [bucket.id, 'b/'])
    const entered = await enterFolders(bucket, ['c/1', 'b/1', 'a/1'])
    await untilWaiting(entered.pid)
    await session.query(insert, [bucket.id, 'c/'])
    await session.query('commit')
    return entered
  })
  await entering.ended
  assert.deepEqual(await rowsOf(bucket), ['a/|', 'b/|', 'c/|', '|a/', '|b/', '|c/'])
})
