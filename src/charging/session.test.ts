// Freshness of a session: it admits nothing when the ledger has been silent for too long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { brokenInvariants } from '#ledger/reference/books.ts'
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

const windowOf = (nth: number, padding = 0) =>
  Buffer.from(JSON.stringify({ meter: 'm1', reading_nj: String(nth), k: 'x'.repeat(padding) }))

test('records that a ledger lost when it was set back are posted again, once', async () => {
  await using test = await openTestCharging()
  const { session, books } = test
  const post = async (...nths: number[]) => {
    for (const nth of nths) session.append('window', windowOf(nth), [])
    await session.tickNow(limit())
  }
  const posted = () => books.records.get(session.id)?.map((text) => JSON.parse(text).reading_nj)
  await post(1, 2)
  const before = structuredClone(books)
  await post(3, 4)
  Object.assign(books, structuredClone(before))
  await post(5)
  assert.deepEqual(posted(), ['1', '2', '3', '4', '5'])
  assert.deepEqual(
    books.alarms.map(({ kind, detail }) => [kind, detail['had'], detail['has']]),
    [['ledger_set_back', '4', '2']],
  )

  // It is noticed without a new record too: the session may end before there is one.
  Object.assign(books, structuredClone(before))
  await session.tickNow(limit())
  await session.tickNow(limit())
  assert.deepEqual(posted(), ['1', '2', '3', '4', '5'])
  assert.deepEqual(brokenInvariants(books), [])
})

test('a session is lost when its journal has not what the ledger lost', async () => {
  const lost: unknown[] = []
  await using test = await openTestCharging(undefined, systemClock, (error) => lost.push(error))
  const { session, books } = test
  const before = structuredClone(books)
  // The records fill more than a segment. A segment is dropped with its file once its records are posted.
  for (let nth = 1; nth <= 10; nth++) session.append('window', windowOf(nth, 10_000), [])
  await session.tickNow(limit())
  await test.journal.synced()
  Object.assign(books, before)
  session.append('window', windowOf(11), [])
  await assert.rejects(session.tickNow(AbortSignal.timeout(1000)))
  assert.equal((lost[0] as { code?: string }).code, 'EG003')
})
