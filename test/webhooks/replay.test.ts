// Replays by event and by time, a pause that keeps deliveries, and the end of old ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openOwner, type Owner } from './owner.ts'
import { startReceiver, type Receiver } from './receiver.ts'

product(PLAIN)

const WAIT_MS = 60_000
const PAGE = 10_000

/** Facts of the account, as the state writes them. */
async function emit(owner: Owner, count: number): Promise<void> {
  await sharedErgon().sql(
    `select emit_event($1, 'balance.depleted', '{"balance_pusd": "0", "unit": "tUSD"}')
     from generate_series(1, $2::int)`,
    [owner.account, count],
  )
}

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await pause(50)
  }
}

const sequencesOf = (receiver: Receiver) =>
  receiver.received.map(({ body }) => body.data.sequence).toSorted((a, b) => a - b)

async function replay(owner: Owner, id: string, body: object) {
  const { status, json } = await owner.call('POST', `/v1/webhooks/${id}/replay`, body)
  assert.equal(status, 200, JSON.stringify(json))
  return json
}

test('a replay of a time sends what did not arrive, or all of it, and keeps ids and bodies', async () => {
  await using receiver = await startReceiver()
  const owner = await openOwner(sharedErgon())
  const from = new Date(Date.now() - 60_000).toISOString()
  // Before there is an endpoint.
  await emit(owner, 3)
  const { id } = await owner.create(receiver.url, ['balance.depleted'])
  await emit(owner, 2)
  await until('the new ones', () => receiver.received.length === 2)
  await until('they are settled', async () => (await owner.get(id)).pending === 0)
  assert.deepEqual(sequencesOf(receiver), [4, 5])
  assert.equal((await replay(owner, id, { from }))['deliveries'], 3)
  await until('the missing ones', () => receiver.received.length === 5)
  assert.deepEqual(sequencesOf(receiver), [1, 2, 3, 4, 5])
  await until('they are settled', async () => (await owner.get(id)).pending === 0)
  assert.equal((await replay(owner, id, { from }))['deliveries'], 0)
  assert.equal((await replay(owner, id, { from, delivered: true }))['deliveries'], 5)
  await until('all again', () => receiver.received.length === 10)
  // A replay of a delivery that is under way is that delivery.
  await until('they are settled', async () => (await owner.get(id)).pending === 0)
  assert.equal(new Set(receiver.received.map(({ raw }) => raw)).size, 5)
  // Of another time there is nothing, and an event that is not wanted is not sent.
  assert.equal((await replay(owner, id, { to: from, delivered: true }))['deliveries'], 0)
  const [first] = receiver.received
  assert.equal((await replay(owner, id, { event_id: first?.body.event_id }))['deliveries'], 1)
  await until('the one', () => receiver.received.length === 11)
  const { json } = await owner.call('GET', `/v1/webhook-deliveries?webhook=${id}&limit=2`)
  assert.equal((json['data'] as unknown[]).length, 2)
  const next = await owner.call(
    'GET',
    `/v1/webhook-deliveries?webhook=${id}&cursor=${String(json['next_cursor'])}`,
  )
  assert.equal((next.json['data'] as unknown[]).length, 3)
})

test('a pause sends nothing and loses nothing, however long the queue', async () => {
  await using receiver = await startReceiver()
  const owner = await openOwner(sharedErgon())
  const { id } = await owner.create(receiver.url, ['balance.depleted'])
  await owner.call('PATCH', `/v1/webhooks/${id}`, { paused: true })
  await emit(owner, 600)
  await pause(500)
  assert.equal(receiver.received.length, 0)
  assert.equal((await owner.get(id)).pending, 600)
  await owner.call('PATCH', `/v1/webhooks/${id}`, { paused: false })
  await until('all', async () => (await owner.get(id)).pending === 0)
  assert.deepEqual(
    sequencesOf(receiver),
    Array.from({ length: 600 }, (_, nth) => nth + 1),
  )
})

test('an endpoint whose secret cannot be read fails alone, with words, until it is rotated', async () => {
  await using receiver = await startReceiver()
  await using other = await startReceiver()
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const { id } = await owner.create(receiver.url, ['balance.depleted'])
  const fine = await owner.create(other.url, ['balance.depleted'])
  await ergon.sql(`update webhook_endpoints set secret = 'e1.damaged' where id = $1`, [id])
  await emit(owner, 1)
  await until('the other one', () => other.received.length === 1)
  await until('words', async () => /rotate/.test((await owner.get(id)).last_error ?? ''))
  assert.equal((await owner.get(fine.id)).failures, 0)
  await owner.call('PUT', `/v1/webhooks/${id}/secret`)
  await until('it comes', async () => (await owner.get(id)).pending === 0)
  assert.equal(receiver.received.length, 1)
})

test('deliveries beyond the log’s days go, and those of deleted endpoints', async () => {
  await using receiver = await startReceiver()
  const ergon = sharedErgon()
  const owner = await openOwner(ergon)
  const { id } = await owner.create(receiver.url, ['balance.depleted'])
  await emit(owner, 4)
  await until('all', async () => (await owner.get(id)).pending === 0)
  await ergon.sql(
    `update webhook_deliveries set created_at = created_at - interval '31 days'
     where endpoint = $1 and id in (select id from webhook_deliveries where endpoint = $1 order by id limit 3)`,
    [id],
  )
  const kept = async () =>
    (await ergon.sql('select from webhook_deliveries where endpoint = $1', [id])).length
  await ergon.control('task.run', { name: 'webhooks.upkeep' })
  await until('the old ones go', async () => (await kept()) === 1)
  await owner.call('DELETE', `/v1/webhooks/${id}`)
  assert.equal(await kept(), 1, 'they go with the upkeep: there may be many')
  // Written by a transaction that had seen the endpoint.
  await ergon.sql(
    `insert into webhook_deliveries (endpoint, event, next_at, since, created_at)
     select $1, 'evt_late' || n, now(), now(), now() from generate_series(1, 12000) n`,
    [id],
  )
  await ergon.control('task.run', { name: 'webhooks.upkeep' })
  await until('all of them go', async () => (await kept()) === 0)
  const [left] = await ergon.sql<{ more: boolean }>('select webhook_upkeep(30, 1) as more')
  assert.equal(left?.more, false)
})

const LONG = { skip: process.env['ERGON_LONG'] === '1' ? false : 'ERGON_LONG=1' }

test('a replay takes a bounded number, and says where the next one begins', LONG, async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  const owner = await openOwner(ergon)
  await emit(owner, PAGE + 1)
  const { id } = await owner.create(receiver.url, ['balance.depleted'])
  await owner.call('PATCH', `/v1/webhooks/${id}`, { paused: true })
  const from = '2026-01-01T00:00:00Z'
  const first = await replay(owner, id, { from })
  assert.deepEqual([first['deliveries'], first['has_more']], [PAGE, true])
  await owner.call('DELETE', `/v1/webhooks/${id}`)
})
