// The ends of a log by time: of a server that writes, and of one that is silent for long.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogEnds } from './log-ends.ts'

const HOUR_MS = 3_600_000

test('createLogEnds() knows the end of a silent log up to five seconds ago, and goes on from there', () => {
  let nowMs = 1000
  const ends = createLogEnds(
    { wallMs: () => nowMs, monotonicMs: () => nowMs },
    { position: 1n, atMs: 900 },
  )
  assert.deepEqual(ends.last(), { position: 1n, atMs: 900 })
  nowMs = 1000 + HOUR_MS
  assert.deepEqual(ends.last(), { position: 1n, atMs: nowMs - 5000 })
  ends.work()
  ends.hear({ written: 2n, sentMs: nowMs })
  const heard = { position: 2n, atMs: nowMs - 5000 }
  assert.deepEqual(ends.last(), heard)
  // The store is slow: nobody listens meanwhile.
  const sentMs = nowMs
  nowMs += HOUR_MS
  assert.deepEqual(ends.last(), heard)
  ends.wait()
  ends.work()
  ends.hear({ written: 3n, sentMs: nowMs - HOUR_MS / 2 })
  assert.deepEqual(ends.last(), { position: 3n, atMs: sentMs })
})
