// Webhooks as their owners use them: endpoints by the command line, events that happen, signed deliveries to a receiver
// that knows the interface alone, the log, rotation, pause and replay.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { openOwner } from './owner.ts'
import { faultOf, startReceiver, type Received } from './receiver.ts'

product(PLAIN)

const WAIT_MS = 60_000

type Endpoint = { readonly id: string; readonly secret: string }
type Json = Record<string, unknown>

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!(await holds())) {
    assert.ok(performance.now() < lastMs, what)
    await pause(50)
  }
}

const isOf = (type: string) => (one: Received) => one.headers['x-svc-event'] === type

test('an endpoint gets its events, signed, and the log has them', async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  const owner = await openOwner(ergon, '30000')
  const made = await owner.call('POST', '/v1/webhooks', {
    url: receiver.url,
    events: ['balance.low', 'balance.depleted'],
  })
  assert.equal(made.status, 201, JSON.stringify(made.json))
  const { id, secret } = made.json as Endpoint
  assert.match(secret, /^whsec_/)
  const rows = await ergon.sql(`select row_to_json(e)::text as row from webhook_endpoints e`)
  assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(secret), 'the state has the secret')
  assert.ok(!JSON.stringify(await owner.call('GET', '/v1/webhooks')).includes(secret))

  const low = await receiver.first('balance.low', isOf('balance.low'))
  assert.equal(faultOf(low, secret), undefined)
  assert.deepEqual(
    [low.headers['user-agent'], low.headers['content-type'], low.headers['x-svc-event-id']],
    ['Ergon-Webhook/1.0', 'application/json', low.body.event_id],
  )
  assert.match(String(low.headers['x-svc-timestamp']), /^\d{10}$/)
  assert.deepEqual(Object.keys(low.body), ['event', 'event_id', 'occurred_at', 'data'])
  assert.deepEqual([low.body.data.account_id, low.body.data['unit']], [owner.account, 'tUSD'])
  assert.match(low.body.occurred_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  assert.match(low.body.event_id, /^evt_/)

  // The planted faults: another body, another secret, an old time.
  assert.equal(faultOf({ ...low, raw: `${low.raw} ` }, secret), 'no v1 is right')
  assert.equal(faultOf(low, `${secret}x`), 'no v1 is right')
  assert.equal(faultOf(low, secret, Date.now() / 1000 + 301), 'it is too old')

  // An account that cannot pay any more gets the event that says so.
  // Deliveries hold a little of the balance for some seconds, in which a request may be refused.
  await until('balance.depleted', async () => {
    // Reads are answered at a balance of zero too.
    const change = () => owner.call('PATCH', `/v1/webhooks/${id}`, { url: receiver.url })
    while ((await change()).status !== 402) continue
    return receiver.received.some(isOf('balance.depleted'))
  })
  const depleted = await receiver.first('balance.depleted', isOf('balance.depleted'))
  assert.equal(faultOf(depleted, secret), undefined)
  assert.ok(depleted.body.data.sequence > low.body.data.sequence)
  const [wallet] = await ergon.sql('select posted from wallets where id = $1', [
    `money:${owner.account}`,
  ])
  assert.ok(Number(wallet?.['posted']) >= 0)
  await ergon.control('funds.add', { account: owner.account, pusd: '1000000000' })
  await until('the log has both', async () => {
    const { json } = await owner.call('GET', `/v1/webhook-deliveries?webhook=${id}`)
    const found = (json['data'] as Json[]) ?? []
    return found.length === 2 && found.every(({ status }) => status === 'delivered')
  })
})

test('deliveries are charged to their account', async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  const owner = await openOwner(ergon)
  const { json } = await owner.call('POST', '/v1/webhooks', {
    url: receiver.url,
    events: ['balance.low'],
  })
  await owner.call('POST', `/v1/webhooks/${String(json['id'])}/test`, { event: 'balance.low' })
  await receiver.first('the test', isOf('balance.low'))
  await until('a charge of deliveries', async () => {
    const rows = await ergon.sql<{ energy: string }>(
      `select energy_nj::text as energy from charges where account = $1 and operation = 'webhook.delivery'`,
      [owner.account],
    )
    return rows.some(({ energy }) => BigInt(energy) > 0n)
  })
})

test('the command line creates, tests, rotates, pauses, resumes, replays and deletes', async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  const cli = async (...words: string[]) => {
    const done = await ergon.cli(...words)
    assert.equal(done.code, 0, done.stderr)
    return done.stdout
  }
  const asked = ['--url', receiver.url, '--events', 'balance.low', '--json']
  const created = await cli('webhook', 'create', ...asked)
  const { id, secret } = JSON.parse(created) as Endpoint
  assert.match(
    await cli('webhook', 'test', '--endpoint', id, '--event', 'workload.crashed'),
    /200 in/,
  )
  const crashed = await receiver.first('the test', isOf('workload.crashed'))
  assert.equal(faultOf(crashed, secret), undefined)
  assert.match(String(crashed.body.data['workload_id']), /^wl_/)
  assert.equal(crashed.body.data['test'], true)

  const rotated = JSON.parse(await cli('webhook', 'rotate', id, '--json')) as Endpoint
  await cli('webhook', 'test', '--endpoint', id, '--event', 'balance.low')
  const both = await receiver.first('the test after the rotation', isOf('balance.low'))
  assert.deepEqual([faultOf(both, secret), faultOf(both, rotated.secret)], [undefined, undefined])
  assert.equal(String(both.headers['x-svc-signature']).match(/v1=/g)?.length, 2)
  assert.equal(both.body.data['unit'], 'tUSD', 'a sample is of the money of its account')

  await cli('webhook', 'pause', id)
  const refused = await ergon.cli('webhook', 'test', '--endpoint', id, '--event', 'balance.low')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /paused/)
  await cli('webhook', 'replay', id, '--event-id', crashed.body.event_id)
  assert.match(await cli('webhook', 'list'), /paused/)
  assert.equal(receiver.received.length, 2)
  await cli('webhook', 'resume', id)
  await until('the replay', async () => receiver.received.length === 3)
  assert.equal(receiver.received[2]?.body.event_id, crashed.body.event_id)
  assert.equal(receiver.received[2]?.raw, crashed.raw)
  const log = await cli('webhook', 'log', '--since', '1h', '--endpoint', id)
  assert.match(log, /workload\.crashed \(test\)/)
  await cli('webhook', 'delete', id)
  assert.ok(!(await cli('webhook', 'list')).includes(id))
})

test('webhook listen forwards events to this machine, signed, with a secret that stays', async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  const owner = await openOwner(ergon, '900000000000')
  const words = ['webhook', 'listen', '--forward-to', receiver.url, '--base-url', ergon.baseUrl]
  const listen = async () => {
    const child = spawn(process.execPath, ['src/cli/ergon.mjs', ...words], {
      env: { ...process.env, ERGON_TOKEN: owner.token },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const [told] = (await once(child.stderr, 'data')) as [Buffer]
    return { child, secret: /whsec_\S+/.exec(String(told))?.[0] ?? String(told) }
  }
  const first = await listen()
  try {
    const low = await receiver.first('balance.low', isOf('balance.low'))
    assert.equal(faultOf(low, first.secret), undefined)
    const { json } = await owner.call('GET', '/v1/events?limit=10')
    assert.deepEqual((json['data'] as Json[])[0], low.body)
  } finally {
    first.child.kill()
    await once(first.child, 'exit')
  }
  const again = await listen()
  again.child.kill()
  await once(again.child, 'exit')
  assert.equal(again.secret, first.secret)
})

test('events are listed from either end, and their pages meet', async () => {
  const owner = await openOwner(sharedErgon())
  await sharedErgon().control('account.suspend', { account: owner.account, reason: 'a test' })
  await sharedErgon().control('account.resume', { account: owner.account })
  const pagesOf = async (order: string) => {
    const sequences: number[] = []
    let cursor = ''
    do {
      const { json } = await owner.call('GET', `/v1/events?order=${order}&limit=1${cursor}`)
      for (const { data } of json['data'] as { data: { sequence: number } }[])
        sequences.push(data.sequence)
      cursor = json['next_cursor'] === null ? '' : `&cursor=${String(json['next_cursor'])}`
    } while (cursor !== '')
    return sequences
  }
  const oldest = await pagesOf('oldest')
  assert.ok(oldest.length >= 2, String(oldest))
  assert.deepEqual(
    oldest,
    oldest.toSorted((a, b) => a - b),
  )
  assert.deepEqual(await pagesOf('newest'), oldest.toReversed())
})

const EXPORT = '/v1/account/export'

test('a key in the query of a url reaches the receiver, and is masked for everybody after its creation', async () => {
  const ergon = sharedErgon()
  await using receiver = await startReceiver()
  const owner = await openOwner(ergon)
  const key = 'k3y-of-the-receiver'
  const url = `${receiver.url}?key=${key}`
  const made = await owner.call('POST', '/v1/webhooks', { url, events: ['balance.low'] })
  assert.equal(made.json['url'], url)
  const path = `/v1/webhooks/${String(made.json['id'])}`
  const masked = url.replace(key, '***')
  assert.equal((await owner.call('GET', path)).json['url'], masked)
  const refused = await owner.call('PATCH', path, { url: masked })
  assert.equal(refused.status, 400, JSON.stringify(refused.json))
  const changed = await owner.call('PATCH', path, { url: `${url}&more=1` })
  assert.equal(changed.json['url'], `${masked}&more=***`)
  const taken = await owner.call('POST', '/v1/webhooks', {
    url: `${url}&more=1`,
    events: ['balance.low'],
  })
  assert.equal(taken.status, 409)
  await owner.call('POST', `${path}/test`, { event: 'balance.low' })
  const { path: asked } = await receiver.first('a test', ({ path: one }) => one.includes(key))
  assert.match(asked, /more=1$/)
  // An endpoint that ends tells the others.
  await using other = await startReceiver()
  await owner.create(other.url, ['webhook.disabled'])
  receiver.answer = (_, response) => void response.writeHead(410).end()
  await owner.call('POST', `${path}/test`, { event: 'balance.low' })
  const told = await other.first('the end', isOf('webhook.disabled'))
  assert.equal(told.body.data['url'], `${masked}&more=***`)
  const scope = 'billing-admin'
  const { token } = await ergon.control('token.create', { account: owner.account, scope })
  const lookup = `/v1/lookup/${String(made.json['id'])}`
  const reads = await Promise.all(
    [path, '/v1/webhooks', '/v1/audit', '/v1/webhook-deliveries', '/v1/events', lookup, EXPORT].map(
      async (wanted) => {
        const headers = { authorization: `Bearer ${token}` }
        const answer = await fetch(`${ergon.baseUrl}${wanted}`, { headers })
        assert.ok([200, 403].includes(answer.status), wanted)
        return await answer.text()
      },
    ),
  )
  const seen = [...reads, ergon.stderr(), taken.json['detail']].join('\n')
  assert.ok(seen.includes('key=***'))
  assert.ok(!seen.includes(key), seen)
  const audit = await ergon.sql('select details::text from audit_entries where target = $1', [
    made.json['id'],
  ])
  const details = [audit.length, JSON.stringify(audit).includes(key)]
  assert.deepEqual(details, [4, false])
})
