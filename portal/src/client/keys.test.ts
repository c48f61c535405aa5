// A request has one key until its outcome is known.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeys, isOpen } from './keys.ts'
import { Problem, unreachable } from './problem.ts'

test('a request keeps its key until it is settled, and others have their own', () => {
  const keys = createKeys()
  const first = keys.of('/v1/topups\n10')
  assert.equal(keys.of('/v1/topups\n10'), first)
  assert.notEqual(keys.of('/v1/topups\n20'), first)
  keys.settle('/v1/topups\n10')
  assert.notEqual(keys.of('/v1/topups\n10'), first)
})

test('the outcome is open after a lost connection, a fault and a request that runs', () => {
  const problem = (status: number, code: string) => new Problem({ status, code, detail: '' })
  assert.ok(isOpen(unreachable()))
  assert.ok(isOpen(problem(503, 'state_unavailable')))
  assert.ok(isOpen(problem(409, 'idempotency_in_progress')))
  assert.ok(!isOpen(problem(409, 'idempotency_answer_too_large')))
  assert.ok(!isOpen(problem(403, 'touch_required')))
  assert.ok(!isOpen(new DOMException('Cancelled', 'AbortError')))
})
