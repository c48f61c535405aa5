import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiRefusal, Unreachable } from './client.ts'
import { codeIn, isPassing } from './login.ts'

test('the redirect of a login has its code and state, and other addresses have none', () => {
  assert.equal(codeIn('/callback?code=c&state=s', 's'), 'c')
  for (const target of ['', '/', '//', '//[', 'http://[', '/callback', '/callback?code=c&state=x'])
    assert.equal(codeIn(target, 's'), undefined, target)
})

test('a login goes on while it waits or the service is away, and ends when it is refused', () => {
  const refusal = (status: number, code: string) =>
    new ApiRefusal({ status, problem: {} }, 'refused', 1, undefined, code)
  for (const error of [
    refusal(400, 'login_pending'),
    refusal(429, 'too_many_requests'),
    refusal(503, 'draining'),
    new Unreachable('Could not reach it'),
  ])
    assert.equal(isPassing(error), true, error.message)
  for (const error of [
    refusal(404, 'login_not_found'),
    refusal(403, 'other'),
    new TypeError('bug'),
  ])
    assert.equal(isPassing(error), false, error.message)
})
