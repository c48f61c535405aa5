// Intervals of a resource become spans of the day with their causes.
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import {
  lengthOf,
  sleptWords,
  spansOf,
  wokenWords,
  type Interval,
  type Wakers,
} from './intervals.ts'

const wakers: Wakers = {
  connection: 'a connection',
  backup: 'a backup',
  change: 'a change of it',
}
const DAY = '2026-11-26'
const HOUR_MS = 3_600_000
const dayMs = Date.parse(`${DAY}T00:00:00Z`)
const interval = (from: string, to: string | null, more: Partial<Interval> = {}): Interval => ({
  from: `${from}:00Z`,
  to: to === null ? null : `${to}:00Z`,
  woken_by: 'connection',
  role: 'owner',
  slept_by: to === null ? null : 'idle',
  ...more,
})

suite('spansOf()', () => {
  test('begins with the day, ends now, and says the causes', () => {
    const intervals = [
      interval(`${DAY}T06:00`, null, { woken_by: 'backup', role: null }),
      interval('2026-11-25T23:00', `${DAY}T02:00`),
    ]
    const spans = spansOf(intervals, { dayMs, nowMs: dayMs + 7 * HOUR_MS, wakers })
    assert.deepEqual(spans, [
      { fromMs: 0, toMs: 2 * HOUR_MS, cause: 'woken by a connection of owner; nobody used it' },
      { fromMs: 6 * HOUR_MS, toMs: 7 * HOUR_MS, cause: 'woken by a backup' },
    ])
    assert.equal(lengthOf(spans), 3 * HOUR_MS)
  })

  test('gives an interval that began after the last tick of the clock no time, never less', () => {
    const begun = [interval(`${DAY}T06:00`, null)]
    const spans = spansOf(begun, { dayMs, nowMs: dayMs + 6 * HOUR_MS - 5000, wakers })
    assert.equal(lengthOf(spans), 0)
  })

  test('shows the time in which it was suspended, which is not awake', () => {
    const intervals = [
      interval(`${DAY}T05:00`, `${DAY}T06:00`, { slept_by: 'balance' }),
      interval(`${DAY}T01:00`, `${DAY}T02:00`, { slept_by: 'suspended' }),
    ]
    const spans = spansOf(intervals, { dayMs, nowMs: dayMs + 8 * HOUR_MS, wakers })
    assert.deepEqual(
      spans.filter(({ isOff }) => isOff === true),
      [
        { fromMs: 2 * HOUR_MS, toMs: 5 * HOUR_MS, isOff: true, cause: 'it was suspended' },
        { fromMs: 6 * HOUR_MS, toMs: 8 * HOUR_MS, isOff: true, cause: 'the balance was used up' },
      ],
    )
    assert.equal(lengthOf(spans), 2 * HOUR_MS)
  })

  test('has words for an interval that goes on', () => {
    const now = interval(`${DAY}T05:00`, null)
    assert.deepEqual(
      [wokenWords(now, wakers), sleptWords(now)],
      ['a connection of owner', 'it is awake'],
    )
  })

  test('joins those of instances that were awake at once, whatever the order of their ends', () => {
    const of = (...intervals: Interval[]) =>
      spansOf(intervals, { dayMs, nowMs: dayMs + 8 * HOUR_MS, wakers })
    const first = interval(`${DAY}T01:00`, `${DAY}T03:00`, { role: null })
    const second = interval(`${DAY}T02:00`, `${DAY}T04:00`, { role: null, slept_by: 'suspended' })
    const within = interval(`${DAY}T02:30`, `${DAY}T02:40`, { role: null, slept_by: 'change' })
    const spans = of(within, second, first)
    assert.deepEqual(spans, [
      { fromMs: HOUR_MS, toMs: 4 * HOUR_MS, cause: 'woken by a connection; it was suspended' },
      { fromMs: 4 * HOUR_MS, toMs: 8 * HOUR_MS, isOff: true, cause: 'it was suspended' },
    ])
    assert.equal(lengthOf(spans), 3 * HOUR_MS)
    const open = of(interval(`${DAY}T05:00`, null, { role: null }), within, second, first)
    assert.equal(lengthOf(open), 6 * HOUR_MS)
  })
})
