// Slow requests of many clients must not delay the tick, nor the search for a token: a session that cannot tick is
// refused by itself after two seconds, and every caller with it.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { fetchOnce } from '../patient-fetch.ts'
import type { Ergon } from '../start-ergon.ts'
import { PLAIN } from '../settings.ts'

product(PLAIN)

const READERS = 40
// Past the life of a session, and less than a reader waits.
const HELD_S = 5

let ergon: Ergon
before(() => {
  ergon = sharedErgon()
})

async function status(path: string, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetchOnce(`${ergon.baseUrl}${path}`, { headers })
  await response.text()
  return response.status
}

test('callers are served while all readers of receipts wait', async () => {
  assert.equal(await status('/v1/models', ergon.token), 200)
  const cold = await ergon.control('token.create', { scope: 'read' })
  const held = ergon.sql(`do $$ begin
    lock table receipt_shards in access exclusive mode;
    perform pg_sleep(${HELD_S});
  end $$`)
  let done = false
  void held.finally(() => (done = true))
  await pause(200)
  const readers = Array.from({ length: READERS }, () =>
    status('/.well-known/ergon/receipt-keys.json', ergon.token),
  )
  await pause(200)
  assert.equal(await status('/v1/models', cold.token), 200, 'with a token not seen before')
  const seen: number[] = []
  while (!done) {
    seen.push(await status('/v1/models', ergon.token))
    await pause(50)
  }
  // Were they kept waiting, it would be all from the second second on; one tick can be late by itself.
  const served = seen.filter((one) => one === 200).length
  assert.ok(served > 0.9 * seen.length, `${served} of ${seen.length} were served`)
  // Callers with a connection get a late answer, callers that waited for one are asked to come again.
  const late = await Promise.all(readers)
  assert.deepEqual(
    late.filter((one) => one !== 200 && one !== 503),
    [],
  )
})
