import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quiet } from '#postgres/testing.ts'
import type { DaySums, ReadAccounts } from './read-accounts.ts'
import { NO_SUMS } from './watched-account.ts'
import { createWatcher } from './watcher.ts'

const MIDNIGHT_MS = Date.UTC(2026, 0, 2)

/** A watcher by a clock that the test moves, over accounts that the test charges. */
function watched() {
  let nowMs = 0
  const timers = new Map<object, { readonly atMs: number; readonly fire: () => void }>()
  const begunMs: number[] = []
  let days = 0
  let charges = 0
  let charged: { readonly day: string; readonly sums: DaySums }[] = []
  let fails = false
  const read: ReadAccounts = {
    now: async (accounts) => {
      begunMs.push(nowMs)
      if (fails) throw new Error('the state does not answer')
      const states = {}
      return {
        accounts: accounts.map((account) => ({
          account,
          charges: String(charges),
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
    watcher: createWatcher({ charging: { spends: [] }, clock, log: quiet, read: () => read }),
    /** Charges so many requests, by the day on which they end. */
    charge(requests: Readonly<Record<string, number>>) {
      charged = Object.entries(requests).map(([day, count]) => ({
        day,
        sums: { ...NO_SUMS, requests: count },
      }))
      charges += charged.reduce((sum, { sums }) => sum + sums.requests, 0)
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
  // Of the second before midnight, one of these ends after it.
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
