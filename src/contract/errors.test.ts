// The advice of errors: what everybody reads must be possible for every role.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advised, ERRORS, fault, unadvised } from './errors.ts'

/** Acts for members of some roles, or for the operator, and who those are. */
const ACTS = [
  [/\bfunds\b|`ergon topup/i, /owner or admin/],
  [/`ergon account restore/, /owner/],
  [/raise it|raises the budget/, /owner/],
  [/`ergon (admin|models add|models remove)\b/, /operator/],
] as const

test('the advice of an error names who can follow it, where not every role can', () => {
  const unsaid = Object.entries(ERRORS).flatMap(([code, { help }]) =>
    ACTS.flatMap(([act, who]) => (act.test(help) && !who.test(help) ? [`${code}: ${help}`] : [])),
  )
  assert.deepEqual(unsaid, [])
})

test('advised() adds no advice to a message that says what to do', () => {
  assert.equal(
    advised(fault('invalid_request', 'Could not accept memory')),
    'Could not accept memory',
  )
})

test('a message that ends with a nearest name keeps its question mark alone', () => {
  const near = 'Could not find the function: "helo"; did you mean "hello"?'
  const text = advised(fault('function_not_found', near))
  assert.doesNotMatch(text, /\?\./)
  assert.equal(unadvised(text, 'function_not_found'), near)
})

test('unadvised() takes off the advice of the code, and nothing else', () => {
  const text = advised(fault('function_not_found', 'Could not find it'))
  assert.equal(text, 'Could not find it. Check the name: `ergon fn list`.')
  assert.equal(unadvised(text, 'function_not_found'), 'Could not find it')
  for (const code of ['database_not_found', 'of_a_newer_service'])
    assert.equal(unadvised(text, code), text)
})
