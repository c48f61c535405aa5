// Bodies in a damaged page of PostgreSQL: the requests that meet it are refused with an alarm, and no others.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { Queryable } from '#state/connect.ts'
import { ServerError } from '#wire/wire-errors.ts'
import { createObjects } from './create-objects.ts'
import { createDamages, placeOfKey } from './damage.ts'
import { createDocuments } from './documents.ts'
import { type PageAlarm, SPOILABLE, spoilPages } from './page-damage.fixture.ts'
import { attributes, makeBucket, openStore } from './store.fixture.ts'
import type { Bucket } from './types.ts'

const bodyOf = (bytes: Buffer) => ({
  attributes: attributes('e', bytes.length),
  body: { kind: 'inline', bytes } as const,
})

test(
  'an object behind a damaged page is refused with an alarm, and keeps no other from its deletion',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl(SPOILABLE)
    await using store = await openStore(server.of, 4)
    const { state } = store
    const damages = createDamages({ state, log: createLogger('test', { write: () => undefined }) })
    const objects = damages.telling(store.objects, placeOfKey)
    const bucket = await makeBucket(store, 'page')
    const bodies = [randomBytes(16_384), randomBytes(16_384)]
    for (const [nth, body] of bodies.entries()) await objects.put(bucket, `k${nth}`, bodyOf(body))
    await objects.put(bucket, 'sound', bodyOf(Buffer.from('x')))
    await spoilPages(state, 'bodies', bodies)
    const refused = { code: 'page_damaged' }
    await assert.rejects(objects.find(bucket.name, { key: 'k0' }), refused)
    await assert.rejects(objects.put(bucket, 'k0', bodyOf(randomBytes(10))), refused)
    const remove = (...keys: string[]) =>
      objects.delete(
        bucket,
        keys.map((key) => ({ key })),
        { bypassGovernance: false },
      )
    await assert.rejects(remove('k1'), refused)
    const answers = await remove('k0', 'sound', 'k1')
    assert.deepEqual(
      answers.map((answer) => ('code' in answer ? answer.code : answer.key)),
      ['InternalError', 'sound', 'InternalError'],
    )
    const query = { prefix: '', delimiter: '/', after: '', limit: 10 }
    const { entries } = await damages.telling(store.listings).objects(bucket, query)
    assert.deepEqual(
      entries.map(({ key }) => key),
      ['k0', 'k1'],
    )
    const { rows } = await state.query<{ detail: PageAlarm }>(
      "select detail from alarms where kind = 'page_damaged'",
    )
    assert.ok(rows.length > 0)
    for (const { detail } of rows) {
      assert.equal(detail.task, 'request')
      assert.match(detail.found, /invalid page in block/)
    }
    const places = rows.map(({ detail: { bucket: of, key } }) => `${of} ${key}`)
    assert.deepEqual(new Set(places), new Set([`${bucket.name} k0`, `${bucket.id} k1`]))
    // The operator's steps (docs/guide/operating.md).
    await state.query('alter system set zero_damaged_pages = on')
    await state.query('select pg_reload_conf()')
    await setTimeout(200)
    await objects.put(bucket, 'k0', bodyOf(Buffer.from('again')))
    assert.deepEqual(
      (await remove('k1')).map(({ key }) => key),
      ['k1'],
    )
    await state.query('vacuum full object_versions')
    await state.query('alter system reset zero_damaged_pages')
    await state.query('select count(md5(inline)) from object_versions')
  },
)

/** Objects on a state that cannot delete one key, with the number of keys of each statement. */
function objectsWithDamage(bad: string) {
  const statements: number[] = []
  const query: Queryable['query'] = async (_text, values) => {
    const deletions = JSON.parse(String(values?.[1])) as readonly { readonly key: string }[]
    statements.push(deletions.length)
    if (deletions.some(({ key }) => key === bad))
      throw new ServerError('invalid page in block 7', 'XX001', false)
    const rows = deletions.map(() => ({ refused: null, version_id: null, marker: false, blobs: 0 }))
    return { rows: rows as never[], rowCount: rows.length }
  }
  const state = { query }
  const documents = createDocuments({ state })
  const deps = { state, finds: state, puts: state, documents, clock: systemClock }
  return { objects: createObjects(deps), statements }
}

test('one damaged key of a thousand costs its batch fifteen statements, and keeps no other key', async () => {
  const keysOf = (count: number) => Array.from({ length: count }, (_, nth) => ({ key: `k${nth}` }))
  const bucket = { id: 7, name: 'b' } as Bucket
  const how = { bypassGovernance: false }
  const { objects, statements } = objectsWithDamage('k450')
  const answers = await objects.delete(bucket, keysOf(1000), how)
  assert.deepEqual(
    answers.flatMap((answer) => ('code' in answer ? [answer] : [])),
    [{ key: 'k450', code: 'InternalError' }],
  )
  assert.deepEqual(
    answers.map(({ key }) => key),
    keysOf(1000).map(({ key }) => key),
  )
  assert.ok(statements.length <= 10 + 14, `${statements.length} statements`)
  // The last batch of 101 keys has one.
  const last = objectsWithDamage('k100')
  assert.equal((await last.objects.delete(bucket, keysOf(101), how)).length, 101)
})
