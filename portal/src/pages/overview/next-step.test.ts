// "Next" offers nothing that the account already has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextStep } from './next-step.ts'

const NEW = { passkeys: 1, hasBudget: false, hasWebhook: false }

test('nextStep() offers a second passkey, then a budget, then a webhook', () => {
  assert.equal(nextStep(NEW, [])?.id, 'second-passkey')
  assert.equal(nextStep({ ...NEW, passkeys: 2 }, [])?.id, 'budget')
  assert.equal(nextStep({ ...NEW, passkeys: 2 }, ['budget'])?.id, 'low-balance-webhook')
})

test('nextStep() offers no webhook to an account that has one', () => {
  assert.equal(nextStep({ passkeys: 2, hasBudget: true, hasWebhook: true }, []), undefined)
})
