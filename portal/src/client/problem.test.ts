// An answer that is not of the service becomes a Problem with words.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSignedOut, jsonOf, Problem, problemOf } from './problem.ts'

test('a success that is no JSON is a clear error', async () => {
  await assert.rejects(jsonOf(new Response('<html>')), { code: 'unreadable', status: 200 })
  assert.deepEqual(await jsonOf(new Response('{"a":1}')), { a: 1 })
})

test('a failure without a problem document has its status', async () => {
  for (const body of ['<html>', 'null', ''])
    assert.equal((await problemOf(new Response(body, { status: 502 }))).status, 502)
})

test('a missing and an ended session are signed out; a missing right is not', () => {
  const problem = (status: number, code: string) => new Problem({ status, code, detail: '' })
  assert.ok(
    isSignedOut(problem(401, 'session_ended')) && isSignedOut(problem(401, 'session_missing')),
  )
  assert.ok(!isSignedOut(problem(403, 'touch_required')))
})
