import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGrowthPace } from './pace.ts'

const MB = 1_000_000

/** Bytes that a writer of 10 MB for each measurement still writes, after measurements that were late by so much. */
function aheadAfter(latesMs: readonly number[], growth = 10 * MB): number {
  const paceOf = createGrowthPace()
  let [bytes, atMs, ahead] = [0, 0, 0]
  for (const lateMs of latesMs) {
    bytes += growth
    atMs += 10 + lateMs
    ahead = paceOf(bytes, { atMs, lateMs }).aheadBytes
  }
  return ahead
}

test('a writer is ended earlier where measurements come late', () => {
  // 0.9 MB/ms for 16 ms.
  assert.equal(Math.round(aheadAfter([0, 0]) / MB), 14)
  // 0.13 MB/ms for 16 ms, and for twice the 60 ms.
  assert.equal(Math.round(aheadAfter([60, 60]) / MB), 17)
})

test('a late measurement counts less and less at the next ones', () => {
  const inTime = (count: number) => Array.from({ length: count }, () => 0)
  const aheads = [1, 10, 100].map((count) => aheadAfter([60, ...inTime(count)]))
  assert.deepEqual(
    aheads.map((bytes) => Math.round(bytes / MB)),
    [116, 79, 15],
  )
})

test('the first measurement is growth, and steps of the server are none', () => {
  const paceOf = createGrowthPace()
  assert.deepEqual(paceOf(MB, { atMs: 5, lateMs: 0 }), {
    sinceMs: Infinity,
    isGrowing: true,
    aheadBytes: 0,
  })
  assert.equal(aheadAfter([0, 0], MB), 0)
})
