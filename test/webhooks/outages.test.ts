// Webhooks while the state is away, and over a stop and a kill of the whole product. ERGON_LONG=1 has three starts of a
// product.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { openOwner, type Owner } from './owner.ts'
import { startReceiver, type Receiver } from './receiver.ts'

const WAIT_MS = 90_000
const EVENTS = 300
const LONG = { skip: process.env['ERGON_LONG'] === '1' ? false : 'ERGON_LONG=1' }

let ergon: Ergon
let owner: Owner
before(async () => {
  if (LONG.skip !== false) return
  ergon = await startErgon()
  owner = await openOwner(ergon)
})
after(() => ergon?.stop())

const emit = (count: number) =>
  ergon.sql(
    `select emit_event($1, 'balance.depleted', '{"balance_pusd": "0", "unit": "tUSD"}')
     from generate_series(1, $2::int)`,
    [owner.account, count],
  )

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const lastMs = performance.now() + WAIT_MS
  while (!(await holds().catch(() => false))) {
    assert.ok(performance.now() < lastMs, what)
    await pause(100)
  }
}

/** A receiver that takes its time, and what happens in the midst of its deliveries. */
async function during(what: (receiver: Receiver) => Promise<void>): Promise<number> {
  await using receiver = await startReceiver()
  receiver.answer = (_, response) => void setTimeout(() => response.end(), 40)
  const { id } = await owner.create(receiver.url, ['balance.depleted'])
  await emit(EVENTS)
  await until('some arrive', async () => receiver.received.length >= 40)
  await what(receiver)
  await until('all are settled', async () => (await owner.get(id)).pending === 0)
  const sequences = new Set(receiver.received.map(({ body }) => body.data.sequence))
  assert.equal(sequences.size, EVENTS)
  await owner.call('DELETE', `/v1/webhooks/${id}`)
  return receiver.received.length - EVENTS
}

test('a state that is killed and comes back loses no delivery', LONG, async (t) => {
  const again = await during(() => ergon.killCell('postgres'))
  t.diagnostic(`${again} arrived twice`)
})

test('a kill of the whole product loses no delivery, and no charge', LONG, async (t) => {
  const again = await during(async () => {
    await ergon.kill()
    await ergon.resume()
  })
  t.diagnostic(`${again} arrived twice`)
  assert.deepEqual(await bookFaults(ergon), [])
})

test('an orderly stop lets deliveries end, and sends none of them twice', LONG, async () => {
  assert.equal(await during(() => ergon.restart()), 0)
})
