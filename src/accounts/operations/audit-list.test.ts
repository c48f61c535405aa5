import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuditList } from './audit-list.ts'

test('an action that nothing is recorded under is refused, others are an empty list', async () => {
  const list = createAuditList({ state: { query: async () => ({ rows: [] }) } as never })
  const asked = async (query: string) =>
    list({ caller: { account: 'acct_a' }, query: () => new URLSearchParams(query) } as never)
  for (const action of ['nonsense', 'webhook.nonsense', 'constructor'])
    await assert.rejects(asked(`action=${action}`), {
      code: 'invalid_request',
      message: `Could not list the changes: there is no action "${action}"`,
    })
  // An action of the API, two of the operator, and no filter.
  for (const query of ['action=webhook.create', 'action=funds.add', 'action=refund.settle', ''])
    assert.equal((await asked(query)).kind, 'known', query)
})
