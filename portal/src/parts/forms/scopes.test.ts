// A stranger's login gets nothing that the person has not chosen.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proposedScope, SCOPES } from './scopes.ts'

test('proposedScope() is at most deploy, whatever the command line asks for', () => {
  const proposed = [null, ...SCOPES].map((asked) => proposedScope(asked, 'billing-admin'))
  assert.deepEqual(proposed, ['deploy', 'read', 'deploy', 'deploy'])
})

test("proposedScope() is at most the greatest scope of the person's role", () => {
  for (const asked of [null, ...SCOPES]) assert.equal(proposedScope(asked, 'read'), 'read')
  assert.equal(proposedScope('billing-admin', 'deploy'), 'deploy')
})
