// How long a session may be believed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { openTestCharging } from './charging.fixture.ts'

const HOUR_MS = 3_600_000
const limit = () => AbortSignal.timeout(10_000)

/** A clock of a machine that sleeps: the wall clock goes on, the monotonic one does not. */
function sleeper() {
  let sleptMs = 0
  return {
    clock: { ...systemClock, wallMs: () => systemClock.wallMs() + sleptMs },
    sleep: (ms: number) => (sleptMs += ms),
  }
}

test('a session is stale when the machine wakes, until the ledger has answered again', async () => {
  const { clock, sleep } = sleeper()
  await using test = await openTestCharging(undefined, clock)
  const { session } = test
  await session.tickNow(limit())
  assert.equal(session.fresh, true)
  test.answers = false
  sleep(HOUR_MS)
  assert.equal(session.fresh, false, 'what was revoked meanwhile is not honoured')
  test.answers = true
  await session.tickNow(limit())
  assert.equal(session.fresh, true)
})

test('a wall clock that is set back makes nothing stale, and nothing fresh for longer', async () => {
  const { clock, sleep } = sleeper()
  let wokeMs = 0
  const late = { ...clock, monotonicMs: () => clock.monotonicMs() + wokeMs }
  await using test = await openTestCharging(undefined, late)
  const { session } = test
  await session.tickNow(limit())
  test.answers = false
  sleep(-HOUR_MS)
  assert.equal(session.fresh, true)
  wokeMs = 2000
  assert.equal(session.fresh, false)
})
