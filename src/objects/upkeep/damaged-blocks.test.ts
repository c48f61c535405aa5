// The upkeep behind blocks of PostgreSQL that changed on the disk: real blocks of a server of the test's own.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { createBlobStores } from '#blobs/stores.ts'
import { createObjects } from '#objects/create-objects.ts'
import { type PageAlarm, SPOILABLE, spoilPages } from '#objects/page-damage.fixture.ts'
import { attributes, inlineObject, makeBucket, openStore } from '#objects/store.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createClean } from './clean.ts'
import { emptySome } from './leave.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const log = createLogger('test', { write: () => undefined })

const cleanOf = (state: State) =>
  createClean({ state, stores: createBlobStores([]), clock: systemClock, log })

async function alarmsOf(state: State, kind: string): Promise<PageAlarm[]> {
  const { rows } = await state.query<{ detail: PageAlarm }>(
    'select detail from alarms where kind = $1 order by id',
    [kind],
  )
  return rows.map(({ detail }) => detail)
}

const bodyOf = (bytes: Buffer) => ({
  attributes: attributes('e', bytes.length),
  body: { kind: 'inline', bytes } as const,
})

test(
  'the upkeep steps over a block of keys that cannot be read, and works on behind it',
  { skip },
  async () => {
    await using server = await openTestUrl(SPOILABLE)
    await using store = await openStore(server.of, 4)
    const { state, objects } = store
    const bucket = await makeBucket(store, 'blocks')
    // So many that statements beside the check take an index.
    const keys = Array.from(
      { length: 1000 },
      (_, n) => `folder-${n}/${String(n).padStart(32, 'k')}`,
    )
    await Promise.all(keys.map((key) => objects.put(bucket, key, inlineObject(key))))
    await state.query('update object_versions set etag = md5(inline)')
    await state.query('vacuum (full, analyze) object_versions')
    const last = keys.at(-1) ?? ''
    const wrong = "update object_versions set inline = 'other' where key = $1"
    await state.query(wrong, [last])
    await state.query('delete from object_folders where bucket = $1 and parent = $2', [
      bucket.id,
      'folder-999/',
    ])
    await spoilPages(state, 'versions', [Buffer.from(keys[60] ?? '')])
    await assert.rejects(
      state.query('select count(*) from object_versions'),
      /invalid page in block/,
    )
    const clean = cleanOf(state)
    for (let round = 0; round < 2; round++)
      await assert.rejects(clean(signal), /invalid page in block/)
    assert.deepEqual(
      (await alarmsOf(state, 'body_damaged')).map(({ key }) => key),
      [last],
    )
    assert.equal((await alarmsOf(state, 'folders_wrong')).length, 1)
    const mended = await state.query("select from object_folders where parent = 'folder-999/'")
    assert.equal(mended.rowCount, 1)
    const tasks = (await alarmsOf(state, 'page_damaged')).map(({ task }) => task)
    assert.deepEqual([...new Set(tasks)].toSorted(), ['folders', 'scrub:rows'])
  },
)

test(
  'the check of folders steps over a block of folders that cannot be read',
  { skip },
  async () => {
    await using server = await openTestUrl(SPOILABLE)
    await using store = await openStore(server.of, 4)
    const { state, objects } = store
    const bucket = await makeBucket(store, 'folder-blocks')
    const names = Array.from({ length: 200 }, (_, n) => `folder-${String(n).padStart(30, '0')}`)
    await Promise.all(names.map((name) => objects.put(bucket, `${name}/1`, inlineObject(name))))
    // Behind all others, of no key.
    await state.query("insert into object_folders values ($1, '', 'gone/')", [bucket.id])
    await spoilPages(state, 'folders', [Buffer.from(names[100] ?? '')])
    await assert.rejects(cleanOf(state)(signal), /invalid page in block/)
    const left = await state.session(async (session) => {
      await session.query('set enable_seqscan = off')
      return await session.query(
        "select from object_folders where bucket = $1 and parent = '' and name = 'gone/'",
        [bucket.id],
      )
    })
    assert.equal(left.rowCount, 0)
  },
)

test('the scrub names each body behind a page that cannot be read', { skip }, async () => {
  await using server = await openTestUrl(SPOILABLE)
  await using store = await openStore(server.of, 4)
  const { state, objects } = store
  const bucket = await makeBucket(store, 'bodies')
  const bodies = [randomBytes(16_384), randomBytes(16_384)]
  const versions: string[] = []
  for (const [nth, bytes] of bodies.entries())
    versions.push((await objects.put(bucket, `k${nth}`, bodyOf(bytes))).versionId)
  await objects.put(bucket, 'sound', inlineObject('x'))
  await state.query("update object_versions set etag = md5(inline) where key = 'sound'")
  await spoilPages(state, 'bodies', bodies)
  for (let round = 0; round < 2; round++)
    await assert.rejects(cleanOf(state)(signal), /invalid page in block/)
  const alarms = await alarmsOf(state, 'page_damaged')
  assert.deepEqual(
    alarms.map(({ task, bucket: of, key, version }) => [task, of, key, version]),
    versions.map((version, nth) => ['scrub:rows', bucket.id, `k${nth}`, version]),
  )
})

test(
  'a transaction that meets a page which cannot be read tells of that page',
  { skip },
  async () => {
    await using server = await openTestUrl(SPOILABLE)
    await using store = await openStore(server.of, 4)
    const { state, documents } = store
    const bucket = await makeBucket(store, 'emptied')
    const body = randomBytes(16_384)
    for (const [key, bytes] of [
      ['a', body],
      ['b', Buffer.from('x')],
    ] as const)
      await store.objects.put(bucket, key, bodyOf(bytes))
    await spoilPages(state, 'bodies', [body])
    const emptied = state.transaction((transaction) => {
      const objects = createObjects({
        state: transaction,
        finds: transaction,
        puts: transaction,
        documents,
        clock: systemClock,
        inTransaction: true,
      })
      return emptySome(transaction, objects, bucket)
    })
    await assert.rejects(emptied, /invalid page in block/)
  },
)
