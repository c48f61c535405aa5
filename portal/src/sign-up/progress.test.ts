// The steps of a sign-up by role.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaveToPay, pathNow, stepNow, stepsOf } from './progress.ts'

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

test('a payer who left the sign-up for a page of the processor is back in it, once', () => {
  const kept = new Map<string, string>()
  const tab = {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
    removeItem: (name: string) => void kept.delete(name),
  }
  assert.equal(pathNow('/balance', tab), '/balance')
  leaveToPay(tab)
  assert.equal(pathNow('/ledger', tab), '/ledger')
  assert.equal(pathNow('/balance', tab), '/sign-up')
  assert.equal(pathNow('/balance', tab), '/balance')
})
