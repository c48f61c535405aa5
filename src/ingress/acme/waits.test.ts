import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { awayWaits, openWaits, type Waits } from './waits.ts'

const HOST = 'a.example'
const MINUTE_MS = 60_000

function pathOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-waits-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return join(folder, 'waits.list')
}

/** The minutes of this many waits, each begun when the one before has ended. */
function minutesOf(waits: Waits, count: number): number[] {
  let nowMs = 0
  return Array.from({ length: count }, () => {
    const { untilMs } = waits.fail(HOST, nowMs)
    assert.ok(waits.of(HOST, untilMs - 1))
    assert.equal(waits.of(HOST, untilMs), undefined)
    const minutes = (untilMs - nowMs) / MINUTE_MS
    nowMs = untilMs
    return minutes
  })
}

test('a name that fails waits longer each time, up to 12 hours', (t) => {
  assert.deepEqual(minutesOf(openWaits(pathOf(t)), 7), [1, 4, 16, 64, 256, 720, 720])
})

test('a name for which the authority is away waits up to 15 minutes', () => {
  assert.deepEqual(minutesOf(awayWaits(), 6), [1, 2, 4, 8, 15, 15])
})

test('a wait is kept on disk, and one that the clock has left behind holds nobody up', (t) => {
  const path = pathOf(t)
  const { untilMs } = openWaits(path).fail(HOST, 0)
  const again = openWaits(path)
  assert.deepEqual(again.of(HOST, 0), { failures: 1, untilMs })
  assert.equal(again.of(HOST, -720 * MINUTE_MS), undefined)
  again.forget(HOST)
  assert.equal(openWaits(path).of(HOST, 0), undefined)
})

test('failures are forgotten a day after the wait', (t) => {
  const waits = openWaits(pathOf(t))
  const { untilMs } = waits.fail(HOST, 0)
  const dayMs = 24 * 60 * MINUTE_MS
  waits.fail('b.example', untilMs + dayMs + 1)
  assert.equal(waits.fail(HOST, untilMs + dayMs + 1).failures, 1)
})
