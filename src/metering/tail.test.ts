import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTails, tailClassOf } from './tail.ts'

test('a tail is learned per operation and size, and is 0 before', () => {
  const tails = createTails()
  assert.equal(tails.expectedNs('chat.create', 1), 0)
  tails.learn('chat.create', 1, 40_000)
  assert.equal(tails.expectedNs('chat.create', 1), 40_000)
  assert.equal(tails.expectedNs('chat.create', 2), 0)
  assert.equal(tails.expectedNs('model.list', 1), 0)
  for (let reply = 0; reply < 200; reply++) tails.learn('chat.create', 1, 60_000)
  assert.equal(tails.expectedNs('chat.create', 1), 60_000)
})

test('one slow reply moves a tail by a sixteenth of the cap at most', () => {
  const tails = createTails({ maxNs: 160_000 })
  tails.learn('model.list', 0, 10_000)
  tails.learn('model.list', 0, 5_000_000_000)
  assert.equal(tails.expectedNs('model.list', 0), 10_000 + 150_000 / 16)
})

test('learn() refuses what is no time', () => {
  const tails = createTails()
  assert.throws(() => tails.learn('model.list', 0, -1), RangeError)
  assert.throws(() => tails.learn('model.list', 0, Number.NaN), RangeError)
})

test('tailClassOf() has its bounds at 4 KiB, 64 KiB and 1 MiB', () => {
  assert.deepEqual(
    [0, 4096, 4097, 65_537, 1_048_576, 1_048_577].map(tailClassOf),
    [0, 0, 1, 2, 2, 3],
  )
})
