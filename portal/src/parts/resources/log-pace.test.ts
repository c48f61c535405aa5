// A followed log is read often while lines come, whatever the clocks of service and browser are.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogPace } from './log-pace.ts'

const line = (second: number) => ({ at: `2020-01-01T00:00:0${second}.000Z`, text: 'x' })

test('createLogPace() reads each 2 s for a minute after a new line, by the clock of the browser', () => {
  let nowMs = Date.parse('2030-01-01T00:00:00Z')
  const paceMs = createLogPace(() => nowMs)
  assert.equal(paceMs([line(1)]), 2_000)
  nowMs += 59_999
  assert.equal(paceMs([line(1)]), 2_000)
  nowMs += 1
  assert.equal(paceMs([line(1)]), 10_000)
  assert.equal(paceMs([line(1), line(2)]), 2_000)
})

test('createLogPace() reads a log without lines each 10 s', () => {
  const paceMs = createLogPace()
  assert.deepEqual([paceMs(undefined), paceMs([])], [10_000, 10_000])
})
