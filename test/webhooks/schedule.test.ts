// The whole schedule of attempts in virtual time, with the process of webhooks killed again and again: time passes by moving
// all times of an endpoint back. ERGON_LONG=1 kills more often.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { DELAYS_MS } from '#webhooks/delivery/schedule.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openOwner, type Owner } from './owner.ts'
import { faultOf, startReceiver } from './receiver.ts'

product(PLAIN)

const LONG = process.env['ERGON_LONG'] === '1'
const EVENTS = LONG ? 60 : 24
const KILLS = LONG ? 12 : 3
const KILL_WITHIN_MS = 120
const ROUNDS_MAX = 400
const ATTEMPTS = DELAYS_MS.length
/** Longer than every wait. */
const LEAP_H = 30
const WAIT_MS = 60_000
const HOUR_MS = 3_600_000

/** So many hours pass for an endpoint. */
async function pass(endpoint: string, hours: number): Promise<void> {
  const ergon = sharedErgon()
  const by = `interval '${hours} hours'`
  await ergon.sql(
    `update webhook_deliveries set next_at = next_at - ${by}, since = since - ${by} where endpoint = $1`,
    [endpoint],
  )
  await ergon.sql(
    `update webhook_endpoints set rest_until = rest_until - ${by}, failing_since = failing_since - ${by},
       failed_at = failed_at - ${by}, old_secrets = coalesce((select jsonb_agg(o || jsonb_build_object('until',
         (o ->> 'until')::timestamptz - ${by})) from jsonb_array_elements(old_secrets) o), '[]') where id = $1`,
    [endpoint],
  )
  await ergon.sql(`select pg_notify('ergon_webhook_changes', $1)`, [endpoint])
}

type Row = {
  event: string
  state: string
  attempts: number
  wait_ms: number
  failed: { at: string; http_status: number | null }[]
}
const rowsOf = (endpoint: string) =>
  sharedErgon().sql<Row>(
    `select event, state, attempts, (extract(epoch from next_at - since) * 1000)::float8 as wait_ms, failed
     from webhook_deliveries where endpoint = $1 order by id`,
    [endpoint],
  )

async function sendTests(owner: Owner, id: string, count: number): Promise<string[]> {
  const events: string[] = []
  for (let nth = 0; nth < count; nth++) {
    const { status, json } = await owner.call('POST', `/v1/webhooks/${id}/test`, {
      event: 'balance.low',
    })
    assert.equal(status, 202)
    events.push(String(json['event_id']))
  }
  return events
}

/** kill -9, once the cell runs: after some kills its restarts take seconds. */
async function killWebhooks(): Promise<void> {
  const ergon = sharedErgon()
  await eventually(() => ergon.pidOf('webhooks').catch(() => undefined))
  await pause(Math.random() * KILL_WITHIN_MS)
  await ergon.killCell('webhooks')
}

test('each delivery arrives at least once over the whole schedule, whatever is killed when', async (t) => {
  await using receiver = await startReceiver()
  const owner = await openOwner(sharedErgon())
  const { id, secret } = await owner.create(receiver.url, ['balance.low'])
  // A failure count from none to all but one by event, and two events that never succeed.
  const left = new Map<string, number>()
  const taken = new Set<string>()
  const hopeless = new Set<string>()
  receiver.answer = ({ body: { event_id: event } }, response) => {
    if (!left.has(event) && left.size < 2) hopeless.add(event)
    const failures = left.get(event) ?? (hopeless.has(event) ? Infinity : left.size % ATTEMPTS)
    left.set(event, failures - 1)
    if (failures <= 0) taken.add(event)
    response.writeHead(failures > 0 ? 500 : 200).end()
  }
  await sendTests(owner, id, EVENTS)
  let kills = 0
  let resumes = 0
  for (let round = 0; round < ROUNDS_MAX; round++) {
    if ((await rowsOf(id)).every(({ state }) => state !== 'pending')) break
    if ((await owner.get(id)).status === 'disabled') {
      resumes++
      await owner.call('PATCH', `/v1/webhooks/${id}`, { paused: false })
    }
    const before = receiver.received.length
    await pass(id, LEAP_H)
    if (kills < KILLS && round % 2 === 1) {
      kills++
      await killWebhooks()
    } else
      await eventually(async () => (receiver.received.length > before ? true : undefined), 3000)
    await pause(60)
  }
  const rows = await rowsOf(id)
  t.diagnostic(`${kills} kills, ${resumes} resumes, ${receiver.received.length} requests`)
  assert.deepEqual([rows.length, kills], [EVENTS, KILLS])
  for (const { event, state, attempts } of rows) {
    const isHopeless = hopeless.has(event)
    assert.equal(state, isHopeless ? 'dead' : 'delivered', event)
    assert.ok(isHopeless ? attempts === ATTEMPTS : taken.has(event), event)
  }
  // Each was signed, with a time of its own.
  for (const one of receiver.received) assert.equal(faultOf(one, secret), undefined)
})

test('the waits are those of the schedule, and the last failure is the end', async () => {
  await using receiver = await startReceiver()
  receiver.answer = (_, response) => void response.writeHead(500).end()
  const owner = await openOwner(sharedErgon())
  const { id } = await owner.create(receiver.url, ['balance.low'])
  await sendTests(owner, id, 1)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const row = await eventually(async () => {
      const [found] = await rowsOf(id)
      return found?.attempts === attempt ? found : undefined
    })
    const expectedMs = DELAYS_MS[attempt] ?? 0
    assert.ok(
      row.wait_ms >= expectedMs * 0.79 && row.wait_ms <= expectedMs * 1.21,
      `${attempt}: ${row.wait_ms} ms`,
    )
    assert.equal(row.state, attempt === ATTEMPTS ? 'dead' : 'pending')
    assert.equal(row.failed.length, attempt)
    if (attempt < ATTEMPTS) {
      // Just before its time nothing is sent.
      await pass(id, (row.wait_ms - 60_000) / HOUR_MS)
      if (expectedMs > 120_000) {
        await pause(300)
        assert.equal(receiver.received.length, attempt)
      }
      await pass(id, 1)
    }
  }
  assert.equal(receiver.received.length, ATTEMPTS)
  const times = receiver.received.map(({ headers }) => Number(headers['x-svc-timestamp']))
  assert.ok(times.every((time) => Math.abs(time - Date.now() / 1000) < 60))
})

test('five days without a success disable an endpoint, ten failures within a day do not', async () => {
  await using receiver = await startReceiver()
  await using other = await startReceiver()
  receiver.answer = (_, response) => void response.writeHead(500).end()
  const owner = await openOwner(sharedErgon())
  const { id } = await owner.create(receiver.url, ['balance.low'])
  await owner.create(other.url, ['webhook.disabled'])
  await sendTests(owner, id, 3)
  for (let round = 0; round < 8 && (await owner.get(id)).failures < 12; round++) {
    await pass(id, 2)
    await pause(300)
  }
  const failing = await owner.get(id)
  assert.ok(failing.failures >= 10, String(failing.failures))
  assert.equal(failing.status, 'active')
  for (let round = 0; round < 60 && (await owner.get(id)).status === 'active'; round++) {
    await pass(id, 24)
    await pause(200)
  }
  const disabled = await owner.get(id)
  assert.deepEqual([disabled.status, disabled.reason], ['disabled', 'it failed for five days'])
  await other.first('webhook.disabled', ({ body }) => body.data['webhook_id'] === id)
})

test('a failing endpoint gets one attempt at a time, and everything once it answers', async () => {
  await using receiver = await startReceiver()
  receiver.answer = (_, response) => void response.writeHead(503).end()
  const owner = await openOwner(sharedErgon())
  const { id } = await owner.create(receiver.url, ['balance.low'])
  const events = await sendTests(owner, id, 40)
  await eventually(async () => ((await owner.get(id)).failures >= 10 ? true : undefined))
  await pause(500)
  const before = receiver.received.length
  await pass(id, 0.02)
  await eventually(async () => (receiver.received.length > before ? true : undefined))
  await pause(500)
  assert.equal(receiver.received.length, before + 1)
  receiver.answer = (_, response) => void response.end()
  await pass(id, 1)
  await eventually(async () => ((await owner.get(id)).pending === 0 ? true : undefined))
  const taken = new Set(receiver.received.map(({ body }) => body.event_id))
  assert.ok(events.every((event) => taken.has(event)))
})

test('a secret that is rotated while deliveries are on their way makes none of them false', async () => {
  await using receiver = await startReceiver()
  const held: (() => void)[] = []
  receiver.answer = (_, response) => void held.push(() => response.end())
  const owner = await openOwner(sharedErgon())
  const { id, secret: old } = await owner.create(receiver.url, ['balance.low'])
  await sendTests(owner, id, 20)
  await eventually(async () => (receiver.received.length >= 8 ? true : undefined))
  const inFlight = receiver.received.length
  const { json } = await owner.call('PUT', `/v1/webhooks/${id}/secret`)
  const fresh = String(json['secret'])
  // The notice of the change is on its way to the process that delivers.
  await pause(500)
  receiver.answer = (_, response) => void response.end()
  for (const answer of held) answer()
  await eventually(async () => ((await owner.get(id)).pending === 0 ? true : undefined))
  for (const [nth, one] of receiver.received.entries()) {
    assert.equal(faultOf(one, old), undefined)
    if (nth >= inFlight) assert.equal(faultOf(one, fresh), undefined)
  }
  assert.ok(receiver.received.length >= 20)
  // After a day the old secret signs no more.
  await pass(id, 25)
  const before = receiver.received.length
  await sendTests(owner, id, 1)
  await eventually(async () => (receiver.received.length > before ? true : undefined))
  const last = receiver.received.at(-1)
  assert.ok(last !== undefined && faultOf(last, fresh) === undefined)
  assert.equal(faultOf(last, old), 'no v1 is right')
})

test('a clock that was set back delays no delivery for long', async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  receiver.answer = (_, response) => void response.writeHead(500).end()
  const owner = await openOwner(ergon)
  const { id } = await owner.create(receiver.url, ['balance.low'])
  await sendTests(owner, id, 1)
  await eventually(async () => ((await owner.get(id)).failures === 1 ? true : undefined))
  receiver.answer = (_, response) => void response.end()
  // All that was written is a day ahead now.
  await pass(id, -24)
  await ergon.control('task.run', { name: 'webhooks.upkeep' })
  await eventually(async () => ((await owner.get(id)).pending === 0 ? true : undefined))
})

/** The first value; rejects after a minute, or resolves with undefined after a shorter wait. */
async function eventually<T>(look: () => Promise<T | undefined>, waitMs?: number): Promise<T> {
  const lastMs = performance.now() + (waitMs ?? WAIT_MS)
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    if (performance.now() > lastMs) {
      assert.notEqual(waitMs, undefined, 'it did not come')
      return undefined as T
    }
    await pause(25)
  }
}
