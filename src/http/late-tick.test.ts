// Requests that come while the ledger's answer is late.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sleep, systemClock } from '#base/clock.ts'
import type { Handler } from './reply.ts'
import { startTestHttp } from './test-server.fixture.ts'

const known: Handler = async () => ({ kind: 'known', status: 200, body: () => '{}' })
const AT_ONCE = 20

/** A ledger that can be held, and a clock that makes the session stale while it is. */
function slowLedger() {
  let held: PromiseWithResolvers<void> | undefined
  let passedMs = 0
  return {
    charging: {
      answered: async () => await held?.promise,
      clock: { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + passedMs },
    },
    hold() {
      held = Promise.withResolvers()
      passedMs += 2000
    },
    answer() {
      held?.resolve()
      held = undefined
    },
  }
}

test('requests wait for a late tick, and are answered when it comes', async () => {
  const ledger = slowLedger()
  await using http = await startTestHttp({ '/it': known }, ledger)
  const url = `http://127.0.0.1:${http.port}/it`
  assert.equal((await fetch(url)).status, 200)
  ledger.hold()
  assert.equal(http.gateway.session.fresh, false)
  const asked = Array.from({ length: AT_ONCE }, async () => (await fetch(url)).status)
  await sleep(200)
  ledger.answer()
  assert.deepEqual(await Promise.all(asked), Array(AT_ONCE).fill(200))
})

test('requests are refused where no tick comes, and the next ones are answered after it', async () => {
  const ledger = slowLedger()
  await using http = await startTestHttp({ '/it': known }, ledger)
  const url = `http://127.0.0.1:${http.port}/it`
  ledger.hold()
  const refused = await fetch(url)
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '1'])
  ledger.answer()
  assert.equal((await fetch(url)).status, 200)
})
