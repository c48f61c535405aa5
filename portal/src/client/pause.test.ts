// A wait of the console ends with its time or with its signal, and leaves nothing at the signal.
import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { pause } from './pause.ts'

const LONG_MS = 3_600_000

test('a pause ends with its time, or at once with its signal', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ending = new AbortController()
  const first = pause(LONG_MS, ending.signal)
  t.mock.timers.tick(LONG_MS)
  await first
  assert.equal(getEventListeners(ending.signal, 'abort').length, 0)
  const second = pause(LONG_MS, ending.signal)
  ending.abort()
  await second
  await pause(LONG_MS, ending.signal)
  assert.equal(getEventListeners(ending.signal, 'abort').length, 0)
})
