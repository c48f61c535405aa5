import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { paceAfter, QUIET, stepOf, type Pace } from './sealer.ts'

/** The waits after checkpoints of so many leaves, from a quiet log on, each begun when the one before said. */
function waitsOf(counts: readonly number[]): number[] {
  let pace: Pace = QUIET
  return counts.map((count) => (pace = paceAfter(count, pace.waitMs, pace)).waitMs)
}

test('a look between two bursts does not make a busy log a quiet one', () => {
  deepEqual(waitsOf([1500, 0, 1400, 0, 0, 1600]), Array(6).fill(500))
})

test('a log of thousands a second is sealed every quarter of one', () => {
  deepEqual(waitsOf([1250, 2500, 1250, 1250]), [500, 250, 250, 250])
})

test('a checkpoint that is full is followed by the next one at once', () => {
  deepEqual(waitsOf([4096, 4096, 100]), [0, 0, 250])
})

test('a log stays quiet with a charge now and then, and becomes it soon after the last one', () => {
  deepEqual(waitsOf([1, 0, 12, 0]), Array(4).fill(1000))
  const waits = waitsOf([4096, ...Array<number>(12).fill(0)])
  ok(waits.indexOf(1000) <= 11, waits.join())
})

test('a log at rest is checked once a second, and more often for seconds after a charge', () => {
  let pace: Pace = QUIET
  const steps = [0, 1, 0, 0, 0, 0, 0, 0].map((count) => {
    pace = paceAfter(count, pace.waitMs, pace)
    return stepOf(pace)
  })
  deepEqual(steps, [1000, 250, 250, 250, 250, 1000, 1000, 1000])
})
