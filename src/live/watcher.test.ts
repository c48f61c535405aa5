import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import type { Charging } from '#charging/charging.ts'
import { quiet } from '#postgres/testing.ts'
import { NO_SUMS, type DaySums, type ReadAccounts } from './read-accounts.ts'
import { createWatcher } from './watcher.ts'

type OpenSpend = Charging['spends'] extends Iterable<infer One> ? One : never
const MIDNIGHT_MS = Date.UTC(2026, 0, 2)

/** A watcher by a clock that the test moves, over accounts that the test charges. */
function watched() {
  let nowMs = 0
  const timers = new Map<object, { readonly atMs: number; readonly fire: () => void }>()
  const begunMs: number[] = []
  let days = 0
  let charges = 0
  let charged: { readonly day: string; readonly sums: DaySums }[] = []
  let events = 0
  let checks = 0
  let fails = false
  let requests = 0
  const spends: OpenSpend[] = []
  const marked: string[] = []
  const operator = { cpuNs: 0 }
  const read: ReadAccounts = {
    counts: async (accounts) => {
      checks++
      if (fails) throw new Error('the state does not answer')
      return accounts.map((account) => ({
        account,
        charges: String(charges),
        events: String(events),
      }))
    },
    now: async (accounts) => {
      begunMs.push(nowMs)
      if (fails) throw new Error('the state does not answer')
      const states = {}
      return {
        accounts: accounts.map((account) => ({
          account,
          charges: String(charges),
          events: String(events),
          isDeleting: false,
          states,
        })),
        window: undefined,
      }
    },
    newCharges: async ([span]) =>
      charged.splice(0).map((ended) => ({
        account: span?.account ?? '',
        operation: 'model.list',
        ...ended,
        unreportedNj: 0n,
        reported: [],
      })),
    newest: async () => [],
    day: async () => {
      days += 1
      return { today: NO_SUMS, charges: String(charges) }
    },
  }
  const clock = {
    wallMs: () => MIDNIGHT_MS - 1500 + nowMs,
    monotonicMs: () => nowMs,
    setTimer(ms: number, fire: () => void) {
      const key = {}
      timers.set(key, { atMs: nowMs + ms, fire })
      return () => void timers.delete(key)
    },
  }
  return {
    begunMs,
    daysRead: () => days,
    watcher: createWatcher({
      charging: { spends },
      requestsOf: () => requests,
      marks: { operator, mark: () => marked.push('operator') },
      clock,
      log: quiet,
      read: () => read,
    }),
    /** Charges so many requests, by the day on which they end. */
    charge(requests: Readonly<Record<string, number>>) {
      charged = Object.entries(requests).map(([day, count]) => ({
        day,
        sums: { ...NO_SUMS, requests: count },
      }))
      charges += charged.reduce((sum, { sums }) => sum + sums.requests, 0)
    },
    spends,
    checks: () => checks,
    marked,
    /** Another process makes an event of the account. */
    tell() {
      events++
    },
    /** A request is answered: it was short, and no reading saw it run. */
    answer() {
      requests++
    },
    /** Readings fail from now on, or do not. */
    fail(does: boolean) {
      fails = does
    },
    async pass(ms: number) {
      for (const untilMs = nowMs + ms; nowMs < untilMs; nowMs += 100) {
        for (const [key, { atMs, fire }] of timers) {
          if (atMs > nowMs) continue
          timers.delete(key)
          fire()
        }
        await new Promise(setImmediate)
      }
    },
  }
}

const soon = () => AbortSignal.timeout(2000)

test('accounts are read once a second, and streams that come and go make no more of it', async () => {
  const { watcher, pass, begunMs } = watched()
  for (let nth = 0; nth < 20; nth++) {
    const stream = watcher.subscribe(`acct_${nth}`, () => undefined)
    await pass(100)
    stream.end()
  }
  const rests = begunMs.slice(1).map((ms, nth) => ms - (begunMs[nth] ?? 0))
  assert.ok(begunMs.length >= 2 && rests.every((ms) => ms >= 200), begunMs.join(' '))
})

test('an account at rest is read each six seconds, and at once when it asks for something', async () => {
  const { watcher, pass, begunMs, answer, spends } = watched()
  const stream = watcher.subscribe('acct_a', () => undefined)
  const readingsIn = readingsOf(begunMs, pass)
  // The second reading finds nothing new.
  assert.equal(await readingsIn(1500), 2)
  assert.equal(await readingsIn(18_000), 3)
  answer()
  assert.equal(await readingsIn(1100), 1)
  const own = { receiptId: 'rcpt_1', payer: { account: 'acct_a' }, measured: () => nj(0n) }
  const running = { ...own, operation: 'chat.create' } as unknown as OpenSpend
  spends.push(running)
  assert.equal(await readingsIn(5000), 5)
  spends.splice(0, 1, { ...running, operation: 'live.get' } as OpenSpend)
  await pass(2000)
  assert.equal(await readingsIn(12_000), 2)
  stream.end()
})

test('charges and events of an account at rest are read within three seconds, by its counters', async () => {
  const { watcher, pass, begunMs, charge, tell, checks } = watched()
  const stream = watcher.subscribe('acct_a', () => undefined)
  const readingsIn = readingsOf(begunMs, pass)
  await pass(2000)
  const checked = checks()
  await pass(18_000)
  assert.equal(checks() - checked, 6)
  for (const others of [() => charge({ '2026-01-02': 1 }), tell]) {
    await pass(6100)
    others()
    assert.ok((await readingsIn(3100)) >= 1)
  }
  assert.equal((await stream.next(soon())).charges, '1')
  // Somebody else who comes in a rest does not wait for its end.
  await pass(7000)
  const other = watcher.subscribe('acct_b', () => undefined)
  assert.ok((await readingsIn(1100)) >= 1)
  assert.equal((await other.next(soon())).account, 'acct_b')
  other.end()
  stream.end()
})

const readingsOf = (begunMs: readonly number[], pass: (ms: number) => Promise<void>) =>
  async function readingsIn(ms: number): Promise<number> {
    const before = begunMs.length
    await pass(ms)
    return begunMs.length - before
  }

test('work of the process before a reading is charged to no stream', async () => {
  const { watcher, pass, marked } = watched()
  const stream = watcher.subscribe('acct_a', () => marked.push('stream'))
  await pass(300)
  const first = marked.indexOf('stream')
  assert.ok(first > 0, marked.join(' '))
  assert.equal(marked[first - 1], 'operator')
  stream.end()
})

test('a day begins with what was counted of it already, and reads no account again', async () => {
  const { watcher, pass, charge, daysRead } = watched()
  const stream = watcher.subscribe('acct_a', () => undefined)
  await pass(300)
  const days: [string, number][] = []
  const take = async () => {
    const { day, today } = await stream.next(soon())
    days.push([day, today.requests])
  }
  await take()
  // One of these charges of the second before midnight ends after it.
  charge({ '2025-12-31': 7, '2026-01-01': 3, '2026-01-02': 1 })
  await pass(1000)
  await take()
  charge({ '2026-01-01': 4, '2026-01-02': 2 })
  await pass(1000)
  await take()
  assert.deepEqual(days, [
    ['2026-01-01', 0],
    ['2026-01-01', 3],
    ['2026-01-02', 3],
  ])
  assert.equal(daysRead(), 1)
})

test('streams outlive two readings that fail, and end at the third in a row', async () => {
  const { watcher, pass, fail, begunMs } = watched()
  const stream = watcher.subscribe('acct_a', () => undefined)
  await pass(300)
  await stream.next(soon())
  const turns = async (count: number) => {
    const before = begunMs.length
    for (let nth = 0; begunMs.length < before + count; nth++) {
      assert.ok(nth < 100, 'the accounts are read no more')
      await pass(100)
    }
  }
  for (let round = 0; round < 2; round++) {
    fail(true)
    await turns(2)
    fail(false)
    await turns(1)
    assert.equal((await stream.next(soon())).account, 'acct_a')
  }
  fail(true)
  await turns(3)
  await assert.rejects(stream.next(soon()), { code: 'state_unavailable' })
})
