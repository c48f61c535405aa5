// The buckets of a deleted account, behind pages that cannot be read and keys that cannot be deleted.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { deleteAccounts } from '#accounts/delete-accounts.ts'
import { createLogger } from '#base/log.ts'
import { createDamages } from '#objects/damage.ts'
import type { Objects } from '#objects/objects.ts'
import { spoilPages, SPOILABLE } from '#objects/page-damage.fixture.ts'
import { ACCOUNT, attributes, inlineObject, makeBucket, openStore } from '#objects/store.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Queryable, State } from '#state/connect.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { createStorageLeave } from './leave.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const log = createLogger('test', { write: () => undefined })

const leaveOf = (state: State, objects: Objects) =>
  createStorageLeave({ state, objects, damages: createDamages({ state, log }) })

const bodyOf = (bytes: Buffer) => ({
  attributes: attributes('e', bytes.length),
  body: { kind: 'inline', bytes } as const,
})

/** Objects that cannot delete keys that begin with an a. */
const refusingOf = (objects: Objects): Objects => ({
  ...objects,
  async delete(of, deletions, how) {
    const [sound, refused] = [false, true].map((isRefused) =>
      deletions.filter(({ key }) => key.startsWith('a') === isRefused),
    )
    return [
      ...(await objects.delete(of, sound ?? [], how)),
      ...(refused ?? []).map(({ key }) => ({ key, code: 'InternalError' })),
    ]
  },
})

async function alarmsOf(state: State, kind: string) {
  const { rows } = await state.query<{ detail: { task?: string; bucket?: number } }>(
    'select detail from alarms where kind = $1 order by id',
    [kind],
  )
  return rows.map(({ detail }) => detail)
}

test(
  'an account leaves all buckets but the objects behind a page that cannot be read',
  { skip },
  async () => {
    await using server = await openTestUrl(SPOILABLE)
    await using store = await openStore(server.of, 4)
    const { state, objects } = store
    const bodies = [randomBytes(16_384), randomBytes(16_384), randomBytes(16_384)]
    const names = ['left-one', 'left-two', 'left-sound']
    for (const [nth, name] of names.entries()) {
      const bucket = await makeBucket(store, name)
      // Of the first bucket two keys cannot be read, of the second the only one.
      if (nth === 0) await objects.put(bucket, 'a', bodyOf(bodies[2] ?? Buffer.alloc(0)))
      await objects.put(
        bucket,
        'b',
        nth === 2 ? inlineObject('x') : bodyOf(bodies[nth] ?? Buffer.alloc(0)),
      )
      if (nth !== 1) await objects.put(bucket, 'c', inlineObject('y'))
    }
    await spoilPages(state, 'bodies', bodies)
    let deletions = 0
    const counted: typeof objects = {
      ...objects,
      delete: (...given) => {
        deletions++
        return objects.delete(...given)
      },
    }
    const leave = leaveOf(state, counted)
    await assert.rejects(leave(ACCOUNT, signal), /a page of the state, in left-one, left-two$/)
    assert.ok(deletions < 10, `${deletions} deletions`)
    const { rows } = await state.query(
      'select b.name, v.key from buckets b join object_versions v on v.bucket = b.id order by 1, 2',
    )
    assert.deepEqual(rows, [
      { name: 'left-one', key: 'a' },
      { name: 'left-one', key: 'b' },
      { name: 'left-two', key: 'b' },
    ])
  },
)

test('a page of buckets that cannot be read ends the run of a deletion, and tells the operator', async () => {
  const raised: unknown[] = []
  const query: Queryable['query'] = async (text, values) => {
    if (!text.includes('raise_alarm'))
      throw new ServerError('invalid page in block 7', 'XX001', false)
    raised.push(JSON.parse(String(values?.[1])))
    return { rows: [], rowCount: 0 }
  }
  const damages = createDamages({ state: { query }, log })
  const leave = createStorageLeave({ state: { query }, objects: {} as Objects, damages })
  await assert.rejects(leave(ACCOUNT, signal), { code: 'XX001' })
  assert.deepEqual(raised, [{ task: 'leave', found: 'invalid page in block 7' }])
})

test(
  'the deletion of an account goes on behind a damaged block of keys, and tells the operator that it cannot end',
  { skip },
  async () => {
    await using server = await openTestUrl(SPOILABLE)
    await using store = await openStore(server.of, 4)
    const { state, objects } = store
    const [first, second] = [
      await makeBucket(store, 'with-block'),
      await makeBucket(store, 'sound'),
    ]
    const keys = Array.from({ length: 1500 }, (_, n) => String(n).padStart(40, 'k'))
    await Promise.all(keys.map((key) => objects.put(first, key, inlineObject(key))))
    await objects.put(second, 'only', inlineObject('x'))
    await state.query('vacuum (full, analyze) object_versions')
    await spoilPages(state, 'versions', [Buffer.from(keys[60] ?? '')])
    await state.query(
      `insert into account_deletions (account, asked_at, due_at, begun_at) values ($1, now(), now(), now())`,
      [ACCOUNT],
    )
    const leaves = () => [{ name: 'storage', leave: leaveOf(state, objects) }]
    for (let run = 0; run < 5; run++) await deleteAccounts({ state, log, leaves }, signal)
    const { rows: buckets } = await state.query('select name from buckets')
    assert.deepEqual(buckets, [{ name: 'with-block' }])
    // The index alone: those in the damaged block.
    const { rows: left } = await state.query<{ keys: number }>(
      'select sum(versions)::int as keys from bucket_usage where bucket = $1',
      [first.id],
    )
    assert.ok((left[0]?.keys ?? 0) > 0 && (left[0]?.keys ?? 0) < 150, JSON.stringify(left))
    const [alarm, ...others] = await alarmsOf(state, 'page_damaged')
    assert.deepEqual([alarm?.task, alarm?.bucket, others], ['leave', first.id, []])
    assert.equal((await alarmsOf(state, 'account_deletion_failing')).length, 1)
  },
)

test(
  'the deletion of an account goes on behind a thousand keys that cannot be deleted',
  { skip },
  async () => {
    await using server = await openTestUrl()
    await using store = await openStore(server.of, 4)
    const { state, objects } = store
    const bucket = await makeBucket(store, 'hidden')
    const keys = Array.from({ length: 1001 }, (_, n) => `a-${n}`)
    await Promise.all([...keys, 'z'].map((key) => objects.put(bucket, key, inlineObject(key))))
    const refusing = refusingOf(objects)
    await assert.rejects(leaveOf(state, refusing)(ACCOUNT, signal), /a page .* in hidden$/)
    const { rows } = await state.query("select key from object_versions where key = 'z'")
    assert.deepEqual(rows, [])
    assert.equal(await leaveOf(state, objects)(ACCOUNT, signal), undefined)
    assert.deepEqual(
      (await state.query("select from storage_upkeep where task like 'leave%'")).rows,
      [],
    )
  },
)

test(
  'the deletion of an account goes on behind a hundred buckets that cannot be emptied',
  { skip },
  async () => {
    await using server = await openTestUrl()
    await using store = await openStore(server.of, 4)
    const { state, objects } = store
    for (let nth = 0; nth < 101; nth++)
      await objects.put(await makeBucket(store, `stuck-${nth}`), 'a', inlineObject('a'))
    await objects.put(await makeBucket(store, 'last'), 'z', inlineObject('z'))
    await assert.rejects(leaveOf(state, refusingOf(objects))(ACCOUNT, signal), /stuck-100$/)
    const { rows } = await state.query("select from buckets where name = 'last'")
    assert.deepEqual(rows, [])
  },
)
