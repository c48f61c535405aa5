// Bodies in a damaged page of PostgreSQL: the requests that meet it are refused with an alarm, and no others.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createLogger } from '#base/log.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createDamages } from './damage.ts'
import { attributes, makeBucket, openStore } from './store.fixture.ts'

const bodyOf = (bytes: Buffer) => ({
  attributes: attributes('e', bytes.length),
  body: { kind: 'inline', bytes } as const,
})

/** Changes a bit of each body on the disk, and makes the server forget its pages. */
async function damage(state: State, bodies: readonly Buffer[]) {
  await state.query('select count(md5(inline)) from object_versions')
  await state.query('checkpoint')
  const { rows } = await state.query<{ folder: string; file: string }>(
    `select current_setting('data_directory') as folder, pg_relation_filepath(reltoastrelid) as file
     from pg_class where oid = 'object_versions'::regclass`,
  )
  const file = join(rows[0]?.folder ?? '', rows[0]?.file ?? '')
  const bytes = readFileSync(file)
  for (const body of bodies) {
    const at = bytes.indexOf(body.subarray(0, 64))
    assert.ok(at > 0)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 0x10, at)
  }
  writeFileSync(file, bytes)
  // The server's memory of 128 pages takes these 10,000 in place of the damaged ones, however often those were used.
  await state.query('create table filler (words text)')
  await state.query("insert into filler select repeat('x', 2000) from generate_series(1, 40000)")
  await state.query('drop table filler')
}

test(
  'an object behind a damaged page is refused with an alarm, and keeps no other from its deletion',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl({
      fsync: 'off',
      shared_buffers: '1MB',
      autovacuum: 'off',
    })
    await using store = await openStore(server.of, 4)
    const { state } = store
    const damages = createDamages({ state, log: createLogger('test', { write: () => undefined }) })
    const objects = damages.telling(store.objects)
    const bucket = await makeBucket(store, 'page')
    const bodies = [randomBytes(16_384), randomBytes(16_384)]
    for (const [nth, body] of bodies.entries()) await objects.put(bucket, `k${nth}`, bodyOf(body))
    await objects.put(bucket, 'sound', bodyOf(Buffer.from('x')))
    await damage(state, bodies)
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
    const { rows } = await state.query<{ detail: { task: string; found: string } }>(
      "select detail from alarms where kind = 'page_damaged'",
    )
    assert.ok(rows.length > 0)
    for (const { detail } of rows) {
      assert.equal(detail.task, 'request')
      assert.match(detail.found, /invalid page in block/)
    }
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
