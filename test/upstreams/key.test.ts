// The key of an upstream goes to that upstream alone: it is not in the state, a list or a log, and not sent to a
// changed address.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import type { Ergon } from '../start-ergon.ts'
import { addUpstream } from '../upstreams.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const KEY = 'sk-7d1f2c9b8a6e5d4c'
const LIMIT_MS = 60_000

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

async function chat(model: string): Promise<number> {
  const response = await fetch(`${ergon.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })
  await response.text()
  return response.status
}

test('a key is encrypted at rest, and only its own upstream gets it', async () => {
  await using resources = new AsyncDisposableStack()
  const upstream = await addUpstream(ergon, 'keyed', { api_key: KEY })
  resources.defer(() => upstream.close())
  const other = await addUpstream(ergon, 'other')
  resources.defer(() => other.close())
  assert.equal(await chat('keyed'), 200)
  assert.equal(upstream.asked.at(-1)?.headers.authorization, `Bearer ${KEY}`)
  assert.equal(await chat('other'), 200)
  assert.equal(other.asked.at(-1)?.headers.authorization, undefined)

  const rows = await ergon.sql<{ text: string }>('select m::text as text from models m')
  assert.ok(rows.some(({ text }) => text.includes('api_key_encrypted')))
  assert.ok(!JSON.stringify(rows).includes(KEY))
  assert.ok(!JSON.stringify(await ergon.control('model.list')).includes(KEY))

  await ergon.sql(
    `update models set provider = provider || jsonb_build_object('base_url', $1::text) where id = 'keyed'`,
    [other.baseUrl],
  )
  await ergon.sql("select pg_notify('ergon_models', '')")
  const before = other.asked.length
  for (const last = performance.now() + LIMIT_MS; other.asked.length === before; await pause(50)) {
    assert.ok(performance.now() < last, 'the new address is not asked')
    await chat('keyed')
  }
  assert.ok(other.asked.every(({ headers }) => headers.authorization === undefined))
  assert.ok(!ergon.stderr().includes(KEY))
})
