// The advice of errors: what everybody reads must be possible for every role.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ERRORS } from './errors.ts'

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
