import { deepEqual, equal, notEqual, ok } from 'node:assert/strict'
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

test('the first bytes of a buffer are lent like a whole one, and all of it comes back', () => {
  const pool = createBufferPool({ size: 8, kept: 2 })
  const part = pool.take(3)
  equal(part.length, 3)
  ok(isLent(part))
  giveBack(part)
  giveBack(part)
  const whole = pool.take()
  deepEqual([whole.length, whole.buffer], [8, part.buffer])
  notEqual(pool.take().buffer, part.buffer)
})
