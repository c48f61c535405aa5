import { equal, notEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { createBufferPool, giveBack, isLent } from './buffer-pool.ts'

test('a buffer is used again once it was given back, and by one at a time', () => {
  const pool = createBufferPool({ size: 8, kept: 2 })
  const first = pool.take()
  notEqual(pool.take(), first)
  giveBack(first)
  giveBack(first)
  equal(pool.take(), first)
  notEqual(pool.take(), first)
  ok(isLent(first))
})

test('no more than a number of them wait, and parts of them, copies and others are left alone', () => {
  const pool = createBufferPool({ size: 8, kept: 1 })
  const [one, two, three] = [pool.take(), pool.take(), pool.take()]
  for (const chunk of [
    three.subarray(0, 8),
    Buffer.from(three),
    'text',
    Buffer.alloc(8),
    undefined,
  ])
    giveBack(chunk)
  giveBack(one)
  giveBack(two)
  equal(pool.take(), one)
  ok(![one, two, three].includes(pool.take()))
})
