import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Secret } from '#base/log.ts'
import { createCardAdapter } from './card-adapter.ts'

const EVENTS = 3000
const PAGE = 100
const nowS = Math.floor(Date.now() / 1000)
/** All within a day: one each 20 s. */
const events = Array.from({ length: EVENTS }, (_, nth) => ({
  id: `evt_${nth}`,
  object: 'event',
  type: 'payment_intent.created',
  created: nowS - (EVENTS - nth) * 20,
}))

test('the events of a busy day are told in parts, the oldest first, each once', async (t) => {
  let lists = 0
  const server = createServer((request, response) => {
    lists++
    const { searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    const bound = (name: string, other: number) => Number(searchParams.get(name) ?? other)
    const [from, to] = [bound('created[gte]', 0), bound('created[lt]', Infinity)]
    const all = events.filter(({ created }) => created >= from && created < to).toReversed()
    const first = all.findIndex(({ id }) => id === searchParams.get('starting_after')) + 1
    const data = all.slice(first, first + PAGE)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ object: 'list', data, has_more: first + PAGE < all.length }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const adapter = createCardAdapter({
    name: 'card-test',
    env: 'test',
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: new Secret('sk_test_1'),
    webhookSecret: new Secret('whsec_1'),
    returnUrl: 'http://127.0.0.1/',
  })
  const since = new Date((nowS - EVENTS * 20) * 1000)
  const told: string[] = []
  let listsAtFirst = 0
  for await (const { id } of adapter.reconcile(since, t.signal)) {
    if (told.push(id) === 1) listsAtFirst = lists
  }
  assert.deepEqual(
    told,
    events.map(({ id }) => id),
  )
  assert.ok(listsAtFirst < EVENTS / PAGE, `the first was told after ${listsAtFirst} lists`)
})
