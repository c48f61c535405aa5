import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSlowdown } from './slowdown.ts'

const MB = 1_000_000
const BYTES_PER_MS = 2.5 * MB
const FAST = { aheadBytes: MB }
const SLOW = { aheadBytes: 0 }

function slowed() {
  const milli: (number | undefined)[] = []
  return { milli, slowdown: createSlowdown(BYTES_PER_MS, (to) => void milli.push(to)) }
}

test('the less room is left, the slower a server whose database grows fast', () => {
  const { milli, slowdown } = slowed()
  slowdown.look({ bytes: 0, atMs: 0, pace: SLOW, room: 64 * MB })
  assert.deepEqual(milli, [], 'no growth')
  for (const room of [300, 60, 3, -10])
    slowdown.look({ bytes: 0, atMs: 0, pace: FAST, room: room * MB })
  // Of 300 MB that the fastest writer does in 120 ms.
  assert.deepEqual(milli, [1000, 200, 50, 50])
})

test('a slowed server is as fast as before when its database has not grown for a while', () => {
  const { milli, slowdown } = slowed()
  slowdown.look({ bytes: 10 * MB, atMs: 0, pace: FAST, room: 60 * MB })
  slowdown.look({ bytes: 11 * MB, atMs: 90, pace: SLOW, room: 57 * MB })
  slowdown.look({ bytes: 11 * MB, atMs: 180, pace: SLOW, room: 24 * MB })
  slowdown.look({ bytes: 11 * MB, atMs: 200, pace: SLOW, room: 24 * MB })
  slowdown.look({ bytes: 11 * MB, atMs: 300, pace: SLOW, room: 24 * MB })
  assert.deepEqual(milli, [200, 190, undefined])
})

test('a server at rest that begins to write is slowed until its growth is known', () => {
  const { milli, slowdown } = slowed()
  const room = 15 * MB
  slowdown.brace({ atMs: 100, room })
  slowdown.look({ bytes: MB, atMs: 101, pace: SLOW, room })
  assert.deepEqual(milli, [20], 'one measurement tells nothing')
  slowdown.look({ bytes: MB, atMs: 106, pace: SLOW, room })
  slowdown.look({ bytes: MB, atMs: 112, pace: SLOW, room })
  assert.deepEqual(milli, [20, undefined], 'a few pages')
  slowdown.brace({ atMs: 200, room })
  slowdown.look({ bytes: 6 * MB, atMs: 206, pace: FAST, room: 60 * MB })
  assert.deepEqual(milli.slice(2), [20, 200], 'it grows fast')
  slowdown.brace({ atMs: 207, room })
  slowdown.lift()
  slowdown.brace({ atMs: 300, room })
  slowdown.lift()
  slowdown.lift()
  assert.deepEqual(milli.slice(4), [undefined, 20, undefined])
})

test('a server whose writers are stopped is as fast as before at once', () => {
  const { milli, slowdown } = slowed()
  slowdown.lift()
  slowdown.look({ bytes: 10 * MB, atMs: 0, pace: FAST, room: 60 * MB })
  slowdown.lift()
  slowdown.lift()
  assert.deepEqual(milli, [200, undefined])
})
