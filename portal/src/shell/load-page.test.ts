// A part of the console that cannot be read waits for its service, and not for ever.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isProblem } from '#console/client/problem.ts'
import { loadPart } from './load-page.ts'

const AGAIN_MS = 2_000
/** An hour. */
const TURNS_MAX = 1_800

test('a service that stays away is given up after some minutes, with words', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let asks = 0
  t.mock.method(globalThis, 'fetch', () => {
    asks += 1
    return Promise.reject(new TypeError('no answer'))
  })
  let ended: unknown
  const loading = loadPart(
    () => Promise.reject(new TypeError('no part')),
    () => true,
  ).catch((error: unknown) => {
    ended = error
  })
  for (let turn = 0; ended === undefined && turn < TURNS_MAX; turn++) {
    await new Promise(setImmediate)
    t.mock.timers.tick(AGAIN_MS)
  }
  assert.ok(ended !== undefined, `${asks} asks and no end`)
  await loading
  assert.ok(isProblem(ended, 'unreachable'))
  assert.ok(asks >= 300, String(asks))
})
