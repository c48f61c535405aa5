// Ranges of the usage page.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { before, narrowed, presetRange, rangeOf, rangeWords } from './range.ts'

const NOW = Date.parse('2026-11-25T09:41:07Z')
const at = (text: string) => Date.parse(`2026-11-25T${text}Z`)

test('a preset ends with the step that runs', () => {
  const range = presetRange('day', NOW)
  assert.deepEqual(range, {
    fromMs: at('10:00:00') - 86_400_000,
    toMs: at('10:00:00'),
    step: 'hour',
  })
})

test('a range that is over is compared with a whole one, and one that runs with as much of it as has passed', () => {
  const range = presetRange('day', NOW)
  const spanOf = (nowMs: number) => {
    const past = before(range, nowMs)
    assert.equal(past.fromMs, range.fromMs - 86_400_000)
    return past.toMs - past.fromMs
  }
  assert.equal(spanOf(range.toMs), 86_400_000)
  // 9:41:07, in whole five minutes.
  assert.equal(spanOf(NOW), 86_400_000 - 20 * 60_000)
  assert.equal(spanOf(range.fromMs), 5 * 60_000)
})

test('a dragged part is of whole steps, in either direction, and never empty', () => {
  const range = { fromMs: at('09:10:00'), toMs: at('09:21:00'), step: 'minute' }
  assert.deepEqual(narrowed(at('09:10:10'), at('09:20:20')), range)
  assert.deepEqual(narrowed(at('09:20:20'), at('09:10:10')), range)
  const point = narrowed(NOW, NOW)
  assert.equal(point.toMs - point.fromMs, 60_000)
})

test('the address has the range, and a wrong one is the last 24 hours', () => {
  assert.equal(
    rangeOf({ from: String(at('09:00:00') / 1000), to: String(at('09:30:00') / 1000) }, NOW).step,
    'minute',
  )
  assert.deepEqual(rangeOf({ range: 'nonsense' }, NOW), presetRange('day', NOW))
})

test('both ends of a range have their day', () => {
  const words = (preset: 'hour' | 'day' | 'month') =>
    rangeWords(presetRange(preset, NOW), 'UTC', new Date(NOW)).replaceAll('\u00a0', ' ')
  assert.equal(words('hour'), '25 Nov 08:42 to 25 Nov 09:42 UTC')
  assert.equal(words('day'), '24 Nov 10:00 to 25 Nov 10:00 UTC')
  assert.equal(words('month'), '27 Oct to 25 Nov UTC')
})
