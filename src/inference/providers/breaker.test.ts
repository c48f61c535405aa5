import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { createBreaker } from './breaker.ts'

const policy = { failuresMax: 3, pauseMs: 1_000, pauseMsMax: 3_000 }

function setUp() {
  let nowMs = 0
  const breaker = createBreaker('up', { monotonicMs: () => nowMs }, policy)
  return {
    breaker,
    pass: (ms: number) => void (nowMs += ms),
    fail: (times: number) => {
      for (let i = 0; i < times; i++) breaker.enter().failed()
    },
  }
}
const overloaded = (retryAfterS: number) => (error: unknown) => {
  assert.ok(error instanceof ErgonError)
  assert.deepEqual([error.code, error.retryAfterS], ['overloaded', retryAfterS])
  return true
}

test('a breaker opens after failures in a row and says when to come back', () => {
  const { breaker, fail } = setUp()
  fail(2)
  breaker.enter().succeeded()
  fail(2)
  assert.equal(breaker.state, 'closed')
  fail(1)
  assert.equal(breaker.state, 'open')
  assert.throws(() => breaker.enter(), overloaded(1))
})

test('a breaker lets one request try and closes when it succeeds', () => {
  const { breaker, fail, pass } = setUp()
  fail(3)
  pass(1_000)
  const trial = breaker.enter()
  assert.equal(breaker.state, 'trying')
  assert.throws(() => breaker.enter(), overloaded(1))
  trial.succeeded()
  assert.equal(breaker.state, 'closed')
  fail(2)
  assert.equal(breaker.state, 'closed')
})

test('a breaker doubles its pause with each failed trial, up to the most', () => {
  const { breaker, fail, pass } = setUp()
  fail(3)
  for (const pauseMs of [1_000, 2_000, 3_000, 3_000]) {
    pass(pauseMs - 1)
    assert.throws(() => breaker.enter(), overloaded(1))
    pass(1)
    breaker.enter().failed()
  }
})

test('a breaker lets another try when a trial said nothing', () => {
  const { breaker, fail, pass } = setUp()
  fail(3)
  pass(1_000)
  breaker.enter().dropped()
  assert.equal(breaker.state, 'open')
  breaker.enter().succeeded()
  assert.equal(breaker.state, 'closed')
})

test('a breaker hears only the first word of a request, and old requests do not lengthen its pause', () => {
  const { breaker, fail, pass } = setUp()
  const old = [breaker.enter(), breaker.enter()]
  fail(3)
  for (const one of old) one.failed()
  pass(1_000)
  const trial = breaker.enter()
  trial.succeeded()
  trial.failed()
  assert.equal(breaker.state, 'closed')
})

test('a breaker is not closed by a request from before it opened', () => {
  const { breaker, fail } = setUp()
  const old = breaker.enter()
  fail(3)
  old.succeeded()
  assert.equal(breaker.state, 'open')
})
