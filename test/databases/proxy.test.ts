// Two database proxies on one port, as clients meet them.
import assert from 'node:assert/strict'
import { connect as connectTcp } from 'node:net'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import { SESSIONS_MAX } from '#databases/session-shares.ts'
import { cancelMessage } from '#databases/proxy/wire.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { connectTo, endOf, makeDatabase, until } from './driver.ts'

let ergon: Ergon
let url: URL
before(async () => {
  ergon = await startErgon({ env: { ERGON_PG_PROXIES: '2', ERGON_DB_IDLE_SECONDS: '1' } })
  url = await makeDatabase(ergon, 'shared')
})
after(() => ergon?.stop())

const keyOf = (client: pg.Client): Buffer => {
  const { processID, secretKey } = client as unknown as { processID: number; secretKey: number }
  const key = Buffer.alloc(8)
  key.writeInt32BE(processID, 0)
  key.writeInt32BE(secretKey, 4)
  return key
}
const proxyOf = (client: pg.Client): number => keyOf(client)[0] ?? 0

/** A session at each proxy. */
async function oneAtEach(): Promise<readonly [pg.Client, pg.Client]> {
  const found = new Map<number, pg.Client>()
  await until('both proxies have a session', async () => {
    const client = await connectTo(url)
    const number = proxyOf(client)
    if (found.has(number)) await client.end()
    else found.set(number, client)
    return found.size === 2
  })
  const [one, two] = [found.get(1), found.get(2)]
  assert.ok(one && two)
  return [one, two]
}

test('a cancel request ends the query of its session, whichever proxy it reaches', async () => {
  const clients = await oneAtEach()
  for (const client of clients) {
    const cancelled = assert.rejects(client.query('select pg_sleep(60)'), { code: '57014' })
    let isCancelled = false
    void cancelled.then(() => (isCancelled = true))
    // The kernel chooses the proxy of each connection.
    await until('it is cancelled', () => {
      if (!isCancelled) connectTcp(Number(url.port), url.hostname).end(cancelMessage(keyOf(client)))
      return isCancelled
    })
    await cancelled
  }
  await Promise.all(clients.map((client) => client.end()))
})

test('the most sessions of a database are those of both proxies together', async () => {
  const open = () => connectTo(url).catch((error: { code?: string }) => error.code)
  const outcomes = await Promise.all(Array.from({ length: SESSIONS_MAX + 5 }, open))
  const clients = outcomes.filter((outcome) => typeof outcome === 'object')
  assert.equal(clients.length, SESSIONS_MAX)
  assert.equal(new Set(clients.map(proxyOf)).size, 2)
  assert.deepEqual(
    new Set(outcomes.filter((outcome) => typeof outcome !== 'object')),
    new Set(['53300']),
  )
  // The sessions of a proxy that dies are those of the other proxy.
  const one = clients.filter((client) => proxyOf(client) === 1)
  const ended = Promise.all(one.map(endOf))
  await ergon.killCell('pg-proxy-1')
  await ended
  const again: pg.Client[] = []
  for (const _ of one)
    await until('there is room', async () => {
      const client = await connectTo(url).catch(() => undefined)
      if (client !== undefined) again.push(client)
      return client !== undefined
    })
  await assert.rejects(connectTo(url), { code: '53300' })
  const rest = clients.filter((client) => proxyOf(client) === 2)
  await Promise.all([...again, ...rest].map((client) => client.end()))
})

test('an end with words reaches the sessions of both proxies', async () => {
  const ended = Promise.all((await oneAtEach()).map(endOf))
  assert.equal((await ergon.cli('db', 'suspend', 'shared')).code, 0)
  assert.deepEqual(
    (await ended).map(({ code }) => code),
    ['57P03', '57P03'],
  )
})
