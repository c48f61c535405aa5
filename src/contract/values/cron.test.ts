import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastTimeOf, parseCron } from './cron.ts'

const at = (text: string) => Date.parse(`${text}Z`)
const timesOf = (schedule: string, from: string, minutes: number): string[] => {
  const cron = parseCron(schedule)
  assert.ok(cron !== undefined, schedule)
  return Array.from({ length: minutes }, (_, nth) => at(from) + nth * 60_000)
    .filter((ms) => cron.matches(ms))
    .map((ms) => new Date(ms).toISOString().slice(5, 16))
}

test('fields are numbers, ranges, steps and lists', () => {
  const hour = (schedule: string) =>
    timesOf(schedule, '2026-01-01T00:00', 60).map((text) => Number(text.slice(-2)))
  assert.deepEqual(hour('*/20 * * * *'), [0, 20, 40])
  assert.deepEqual(hour('5-7 * * * *'), [5, 6, 7])
  assert.deepEqual(hour('10-20/5,59 * * * *'), [10, 15, 20, 59])
  assert.deepEqual(hour('50/4 * * * *'), [50, 54, 58])
  assert.deepEqual(hour('0 1 * * *'), [])
})

test('a day of the month and a day of the week are either of them, where both are limited', () => {
  const days = (schedule: string) =>
    timesOf(schedule, '2026-02-01T00:00', 28 * 1440).map((text) => Number(text.slice(3, 5)))
  // 1 February 2026 is a Sunday.
  assert.deepEqual(days('0 0 * * 0'), [1, 8, 15, 22])
  assert.deepEqual(days('0 0 * * 7'), [1, 8, 15, 22])
  assert.deepEqual(days('0 0 13 * *'), [13])
  assert.deepEqual(days('0 0 13 * 1'), [2, 9, 13, 16, 23])
  assert.deepEqual(timesOf('30 23 28 2 *', '2026-02-28T23:00', 60), ['02-28T23:30'])
})

test('a text that is no schedule is none', () => {
  for (const text of [
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
  ])
    assert.equal(parseCron(text), undefined, text)
  for (const text of [
    '*/0 * * * *',
    '5-1 * * * *',
    '* * * * 8',
    '@daily',
    '* * * * MON',
    '1,,2 * * * *',
  ])
    assert.equal(parseCron(text), undefined, text)
})

test('the last of the times that passed counts, and none that is too old', () => {
  const cron = parseCron('*/10 * * * *')
  assert.ok(cron !== undefined)
  const last = (after: string, to: string, most = 1440) =>
    lastTimeOf(cron, { afterMs: at(after), toMs: at(to), most })
  assert.equal(last('2026-01-01T00:00', '2026-01-01T00:35'), at('2026-01-01T00:30'))
  assert.equal(last('2026-01-01T00:30', '2026-01-01T00:35'), undefined)
  assert.equal(last('2026-01-01T00:00', '2026-01-01T00:09'), undefined)
  assert.equal(last('2026-01-01T00:00', '2026-01-01T00:35', 3), undefined)
})
