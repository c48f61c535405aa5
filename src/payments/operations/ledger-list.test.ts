import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLedgerList } from './ledger-list.ts'

test('a ledger that cannot be listed names the parameter and its value', async () => {
  const list = createLedgerList({ state: undefined as never, posted: undefined as never })
  const asked = async (query: string) =>
    list({ caller: { account: 'acct_a' }, query: () => new URLSearchParams(query) } as never)
  await assert.rejects(asked('id=zzz'), {
    message: 'Could not list the ledger: "zzz" is not the id of an entry, a receipt or a request',
  })
  await assert.rejects(asked('from=2026-12-01&to=2026-11-01'), {
    message: 'Could not list the ledger: "to" is before "from"',
  })
})
