// Charges that no message names have a page read again, seldom, and never because of the page's own reads.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { watchMissed } from './missed.ts'

test('watchMissed() reads again when the count grows, at most each ten seconds', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 100_000 })
  let reads = 0
  const watch = watchMissed(
    async () => void reads++,
    () => 0,
  )
  watch.hear(7)
  t.mock.timers.tick(1_000)
  assert.equal(reads, 0)
  watch.hear(8)
  t.mock.timers.tick(1)
  assert.equal(reads, 1)
  for (let count = 9; count < 14; count++) watch.hear(count)
  t.mock.timers.tick(9_900)
  assert.equal(reads, 1)
  t.mock.timers.tick(100)
  assert.equal(reads, 2)
  t.mock.timers.tick(60_000)
  assert.equal(reads, 2)
  watch.hear(15)
  watch.stop()
  t.mock.timers.tick(60_000)
  assert.equal(reads, 2)
})

test('watchMissed() takes growth just after an answer as the reads of the page itself', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 100_000 })
  let reads = 0
  let answeredMs = 100_000
  const watch = watchMissed(
    async () => {
      reads++
      answeredMs = Date.now()
    },
    () => answeredMs,
  )
  watch.hear(0)
  t.mock.timers.tick(1_000)
  watch.hear(2)
  t.mock.timers.tick(30_000)
  assert.equal(reads, 0)
  watch.hear(3)
  t.mock.timers.tick(1)
  assert.equal(reads, 1)
  t.mock.timers.tick(1_000)
  watch.hear(5)
  t.mock.timers.tick(30_000)
  assert.equal(reads, 1)
})
