import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addMeasures,
  DAYS,
  NO_HISTORY,
  shownDays,
  stateOfDay,
  upPercent,
  type StatusHistory,
} from './history.ts'
import type { PartMeasure } from './measure.ts'

const MINUTE_MS = 60_000
const NOON_MS = Date.UTC(2026, 10, 26, 12)
const moment = (nowMs: number, isStart = false) => ({ nowMs, periodMs: MINUTE_MS, isStart })
const add = (history: StatusHistory, state: PartMeasure, nowMs: number) =>
  addMeasures(history, new Map([['api', state]]), moment(nowMs))
const dayOfApi = (history: StatusHistory, day = '2026-11-26') => history.parts['api']?.days[day]

test('a measurement counts for the time since the one before, and the first for none', () => {
  let history = add(NO_HISTORY, 'ok', NOON_MS)
  assert.equal(dayOfApi(history), undefined)
  history = add(history, 'ok', NOON_MS + MINUTE_MS)
  assert.deepEqual(dayOfApi(history), { ok: 60, degraded: 0, down: 0 })
  history = add(history, 'down', NOON_MS + 2.5 * MINUTE_MS)
  assert.deepEqual(dayOfApi(history), { ok: 60, degraded: 0, down: 90 })
})

test('minutes that are not measured count as nothing, and their day is hollow', () => {
  const history = add(add(NO_HISTORY, undefined, NOON_MS), undefined, NOON_MS + MINUTE_MS)
  assert.equal(stateOfDay(dayOfApi(history)), undefined)
  assert.equal(upPercent(history.parts['api'] ?? { state: undefined, days: {} }), undefined)
})

test('time between two processes counts as down from the last measurement on, however short', () => {
  const before = add(NO_HISTORY, 'ok', NOON_MS)
  const after = addMeasures(
    before,
    new Map<string, PartMeasure>([
      ['api', 'ok'],
      ['new', 'ok'],
    ]),
    moment(NOON_MS + 2 * MINUTE_MS, true),
  )
  assert.deepEqual(dayOfApi(after), { ok: 0, degraded: 0, down: 120 })
  assert.deepEqual(after.parts['new']?.days, {})
})

test('a gap counts as down, each second on its day, and only for parts that were measured', () => {
  const before = addMeasures(
    NO_HISTORY,
    new Map<string, PartMeasure>([
      ['api', 'ok'],
      ['unused', undefined],
    ]),
    moment(NOON_MS),
  )
  const after = addMeasures(
    add(before, 'ok', NOON_MS + MINUTE_MS),
    new Map<string, PartMeasure>([
      ['api', 'ok'],
      ['unused', undefined],
    ]),
    moment(NOON_MS + 13 * 3_600_000),
  )
  assert.deepEqual(dayOfApi(after), { ok: 60, degraded: 0, down: 12 * 3600 - 60 })
  assert.deepEqual(dayOfApi(after, '2026-11-27'), { ok: 0, degraded: 0, down: 3600 })
  assert.deepEqual(after.parts['unused']?.days, {})
})

test('a clock that is set back counts nothing twice, and a part that is not named any more is forgotten', () => {
  const before = add(add(NO_HISTORY, 'ok', NOON_MS - MINUTE_MS), 'ok', NOON_MS)
  const back = add(before, 'ok', NOON_MS - 3_600_000)
  assert.deepEqual(dayOfApi(back), { ok: 60, degraded: 0, down: 0 })
  const without = addMeasures(back, new Map(), moment(NOON_MS))
  assert.deepEqual(without.parts, {})
})

test('90 days are kept, however long a gap was', () => {
  const before = add(NO_HISTORY, 'ok', NOON_MS - 400 * 86_400_000)
  const after = add(add(before, 'ok', NOON_MS), 'ok', NOON_MS + MINUTE_MS)
  const days = Object.keys(after.parts['api']?.days ?? {})
  assert.equal(days.length, DAYS)
  assert.deepEqual(days, shownDays(NOON_MS))
})

test('a bar is half from 2 minutes of trouble, full from 10 minutes down, and 100 % is never rounded up to', () => {
  const day = (degraded: number, down: number) => ({ ok: 86_000, degraded, down })
  assert.deepEqual(
    [day(0, 0), day(119, 0), day(60, 60), day(9000, 599), day(0, 600)].map(stateOfDay),
    ['ok', 'ok', 'degraded', 'degraded', 'down'],
  )
  const percent = (down: number) =>
    upPercent({ state: 'ok', days: { '2026-11-26': { ok: 10_000_000, degraded: 0, down } } })
  assert.deepEqual([percent(0), percent(1), percent(10_000_000)], ['100', '99.99', '50.00'])
})
