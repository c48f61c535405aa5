// The steps of a sign-up by role.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepNow, stepsOf } from './progress.ts'

test('an invited member is not asked for money, the owner is', () => {
  assert.deepEqual(stepsOf('owner'), ['account', 'codes', 'funds', 'token', 'ask'])
  for (const role of ['admin', 'developer', 'viewer'] as const) {
    const steps = stepsOf(role)
    assert.ok(!steps.includes('funds'), role)
    assert.equal(stepNow('funds', steps), 'token', role)
    assert.equal(stepNow('account', steps), 'token', role)
  }
})

test('a person goes on at the saved step', () => {
  const steps = stepsOf('owner')
  assert.equal(stepNow('account', steps), 'funds')
  for (const step of ['codes', 'token', 'ask', 'done'] as const)
    assert.equal(stepNow(step, steps), step)
})
