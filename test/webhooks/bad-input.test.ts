// Bad calls of owners and bad answers of endpoints: each gets a clear error, and nothing changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import {
  WEBHOOKS_MAX,
  type WebhookDelivery,
  type WebhookReply,
} from '#contract/webhooks/webhooks.ts'
import { Secret } from '#base/log.ts'
import { createAddressRule } from '#egress/addresses.ts'
import { createWebhookCreate } from '#webhooks/operations/webhook-create.ts'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openOwner, type Owner } from './owner.ts'
import { startReceiver } from './receiver.ts'

product(PLAIN)

const WAIT_MS = 60_000
const events = ['balance.low']

/** The deliveries of an endpoint in the log, the newest first. */
async function deliveriesOf(owner: Owner, webhook: string): Promise<WebhookDelivery[]> {
  const { json } = await owner.call('GET', `/v1/webhook-deliveries?webhook=${webhook}`)
  return json['data'] as WebhookDelivery[]
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await pause(50)
  }
}

test('an endpoint is refused for its url, its events, a url that is taken, and beyond the limit', async () => {
  const owner = await openOwner(sharedErgon())
  const refused = async (body: object, code: string, why = /./) => {
    const { status, json } = await owner.call('POST', '/v1/webhooks', body)
    assert.ok(status >= 400, JSON.stringify(body))
    assert.equal(json['title'], code, JSON.stringify(body))
    assert.match(String(json['detail']), why)
  }
  for (const url of ['http://10.0.0.1/', 'https://127.0.0.2/', 'https://[::ffff:127.0.0.1]/'])
    await refused({ url, events }, 'invalid_request', /the address is not public/)
  await refused({ url: 'x', events }, 'invalid_request', /"x" is no url, such as https:/)
  const url = 'https://example.com/'
  const types = /no type "balance\.high": .*balance\.low, balance\.depleted, .*<bucket>/
  await refused({ url, events: ['balance.high'] }, 'invalid_request', types)
  const { id } = await owner.create('https://example.com/0', events)
  await refused({ url: 'https://example.com/0', events }, 'webhook_exists')
  for (let nth = 1; nth < WEBHOOKS_MAX; nth++)
    await owner.create(`https://example.com/${nth}`, events)
  await refused({ url: 'https://example.com/more', events }, 'too_many_webhooks')
  const moved = await owner.call('PATCH', `/v1/webhooks/${id}`, { url: 'https://example.com/1' })
  assert.deepEqual([moved.status, moved.json['title']], [409, 'webhook_exists'])
  const inside = await owner.call('PATCH', `/v1/webhooks/${id}`, { url: 'https://10.0.0.1/' })
  assert.equal(inside.status, 400)
  assert.equal((await owner.get(id)).url, 'https://example.com/0')
})

test('parallel creates make no more endpoints than an account may have', async () => {
  const owner = await openOwner(sharedErgon())
  const made = await Promise.all(
    Array.from({ length: WEBHOOKS_MAX + 10 }, (_, nth) =>
      owner.call('POST', '/v1/webhooks', { url: `https://example.com/${nth}`, events }),
    ),
  )
  assert.equal(made.filter(({ status }) => status === 201).length, WEBHOOKS_MAX)
})

test('one of several parallel deletions is answered and audited, the others find nothing', async () => {
  const owner = await openOwner(sharedErgon())
  const { id } = await owner.create('https://example.com/', events)
  const ends = await Promise.all(
    Array.from({ length: 12 }, () => owner.call('DELETE', `/v1/webhooks/${id}`)),
  )
  const statuses = ends.map(({ status }) => status).toSorted((a, b) => a - b)
  assert.deepEqual(statuses, [200, ...Array.from({ length: 11 }, () => 404)])
  const audit = await owner.call('GET', '/v1/audit?action=webhook.delete')
  assert.equal((audit.json['data'] as object[]).length, 1)
})

test('a NUL in a path or a query is refused', async () => {
  const owner = await openOwner(sharedErgon())
  for (const path of [
    '/v1/webhooks/%00',
    '/v1/webhook-deliveries?webhook=%00',
    '/v1/tokens?cursor=%00',
    '/v1/audit?action=a%00',
    '/v1/audit?%00=a',
  ]) {
    const { status, json } = await owner.call('GET', path)
    assert.deepEqual([status, json['title']], [400, 'invalid_request'], path)
  }
  const described = { url: 'https://example.com/', events, description: 'a\0' }
  assert.equal((await owner.call('POST', '/v1/webhooks', described)).status, 400)
})

test("another account's endpoint and events are not found", async () => {
  const owner = await openOwner(sharedErgon())
  const other = await openOwner(sharedErgon())
  const { id } = await owner.create('https://example.com/', events)
  for (const [method, path, body] of [
    ['GET', `/v1/webhooks/${id}`],
    ['PATCH', `/v1/webhooks/${id}`, { paused: true }],
    ['PUT', `/v1/webhooks/${id}/secret`],
    ['DELETE', `/v1/webhooks/${id}`],
    ['POST', `/v1/webhooks/${id}/test`, { event: 'balance.low' }],
    ['POST', `/v1/webhooks/${id}/replay`, { event_id: 'evt_1' }],
    ['GET', `/v1/webhook-deliveries?webhook=${id}`],
  ] as const) {
    const { status, json } = await other.call(method, path, body)
    assert.deepEqual([status, json['title']], [404, 'webhook_not_found'], `${method} ${path}`)
  }
  const replay = await owner.call('POST', `/v1/webhooks/${id}/replay`, { event_id: 'evt_none' })
  assert.deepEqual([replay.status, replay.json['title']], [404, 'event_not_found'])
  assert.equal((await owner.get(id)).status, 'active')
  for (const query of [
    'limit=0',
    'limit=1001',
    'status=lost',
    'cursor=x',
    'since=noon',
    'since=1h',
  ])
    assert.equal((await owner.call('GET', `/v1/webhook-deliveries?${query}`)).status, 400, query)
  for (const query of ['after=-1', 'after=x', 'limit=0', 'order=desc', 'order=newest&after=0'])
    assert.equal((await owner.call('GET', `/v1/events?${query}`)).status, 400, query)
})

test('410 disables an endpoint at once, with an event for the others; a test is then refused', async () => {
  const ergon = sharedErgon()
  await using gone = await startReceiver()
  await using other = await startReceiver()
  gone.answer = (_, response) => void response.writeHead(410).end()
  const owner = await openOwner(ergon)
  const { id } = await owner.create(gone.url, events)
  await owner.create(other.url, ['webhook.disabled'])
  await owner.call('POST', `/v1/webhooks/${id}/test`, { event: 'balance.low' })
  const told = await other.first(
    'webhook.disabled',
    ({ body }) => body.event === 'webhook.disabled',
  )
  assert.deepEqual(
    [told.body.data['webhook_id'], told.body.data['reason']],
    [id, 'it answered 410'],
  )
  const found = await owner.get(id)
  assert.deepEqual([found.status, found.reason], ['disabled', 'it answered 410'])
  // It waits for the resume, not for a time.
  const [delivery] = await deliveriesOf(owner, id)
  assert.deepEqual([delivery?.status, delivery?.next_attempt_at], ['pending', null])
  const { status, json } = await owner.call('POST', `/v1/webhooks/${id}/test`, {
    event: 'balance.low',
  })
  assert.deepEqual([status, json['title']], [409, 'webhook_not_active'])

  gone.answer = (_, response) => void response.end()
  await owner.call('PATCH', `/v1/webhooks/${id}`, { paused: false })
  await until('it is delivered after the resume', async () => (await owner.get(id)).pending === 0)
  assert.deepEqual([(await owner.get(id)).status, gone.received.length], ['active', 2])
  const event = 'bucket/photos/object-created'
  const sample = await owner.call('POST', `/v1/webhooks/${id}/test`, { event })
  assert.deepEqual([sample.status, sample.json['event']], [202, 'object.created'])
})

test('429 with Retry-After, 500 and a redirect wait for their next attempt, and say why', async () => {
  await using receiver = await startReceiver()
  const owner = await openOwner(sharedErgon())
  const attempted = async (
    answer: typeof receiver.answer,
  ): Promise<WebhookReply & { next: number }> => {
    receiver.answer = answer
    const { id } = await owner.create(`${receiver.url}/${receiver.received.length}`, events)
    await owner.call('POST', `/v1/webhooks/${id}/test`, { event: 'balance.low' })
    await until('an attempt', async () => (await owner.get(id)).failures > 0)
    const [row] = await sharedErgon().sql<{ s: string }>(
      `select extract(epoch from greatest(d.next_at, e.rest_until) - d.since)::text as s
       from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint where e.id = $1`,
      [id],
    )
    const [delivery] = await deliveriesOf(owner, id)
    const nextMs =
      Date.parse(delivery?.next_attempt_at ?? '') - Date.parse(delivery?.created_at ?? '')
    // A delivery waits since it was due, shortly after it was made.
    assert.ok(Math.abs(nextMs / 1000 - Number(row?.s)) < 1, `${nextMs} ms and ${row?.s} s`)
    return { ...(await owner.get(id)), next: Number(row?.s) }
  }
  const busy = await attempted((_, response) =>
    response.writeHead(429, { 'retry-after': '3600' }).end(),
  )
  assert.match(busy.last_error ?? '', /429/)
  assert.equal(Math.round(busy.next), 3600)
  const broken = await attempted((_, response) => void response.writeHead(500).end('oops'))
  assert.match(broken.last_error ?? '', /500/)
  assert.ok(broken.next >= 4 && broken.next <= 6, String(broken.next))
  const moved = await attempted((_, response) =>
    response.writeHead(302, { location: 'https://example.com/' }).end(),
  )
  assert.match(moved.last_error ?? '', /redirects are not followed/)
})

test('an endpoint that asks for rest gets nothing more, however much waits', async () => {
  await using receiver = await startReceiver()
  receiver.answer = (_, response) => response.writeHead(429, { 'retry-after': '3600' }).end()
  const owner = await openOwner(sharedErgon())
  const { id } = await owner.create(receiver.url, events)
  await sharedErgon().sql(
    `insert into webhook_deliveries (endpoint, event, sample, next_at, since, created_at)
     select $1, 'evt_rest' || n, '{"type":"balance.low","data":{}}', now(), now(), now()
     from generate_series(1, 200) n`,
    [id],
  )
  await owner.call('POST', `/v1/webhooks/${id}/test`, { event: 'balance.low' })
  await until('an attempt', async () => (await owner.get(id)).failures > 0)
  await pause(1500)
  assert.ok(receiver.received.length <= 8, `${receiver.received.length} attempts`)
  await owner.call('DELETE', `/v1/webhooks/${id}`)
})

test('an endpoint that hangs does not hold up the other endpoints of its account', async () => {
  await using hanging = await startReceiver()
  await using quick = await startReceiver()
  hanging.answer = () => undefined
  const owner = await openOwner(sharedErgon())
  const slow = await owner.create(hanging.url, events)
  const fine = await owner.create(quick.url, events)
  for (let nth = 0; nth < 20; nth++)
    await owner.call('POST', `/v1/webhooks/${slow.id}/test`, { event: 'balance.low' })
  await hanging.first('a test', () => true)
  const beganMs = performance.now()
  await owner.call('POST', `/v1/webhooks/${fine.id}/test`, { event: 'balance.low' })
  await quick.first('the test', () => true)
  assert.ok(performance.now() - beganMs < 10_000, 'it waited for the other')
  assert.ok(hanging.received.length <= 8, `${hanging.received.length} at once`)
  await owner.call('DELETE', `/v1/webhooks/${slow.id}`)
})

test('a service without webhooks says so (webhooks_off)', async () => {
  const create = createWebhookCreate({
    state: { transaction: (work: (none: never) => unknown) => work(undefined as never) } as never,
    key: new Secret(''),
    rule: createAddressRule([]),
    isOn: false,
  })
  const body = { url: 'https://example.com/', events, description: '' }
  const caller = { account: 'acct_a' }
  await assert.rejects(async () => create({ caller, body } as never), {
    code: 'webhooks_off',
  })
})
