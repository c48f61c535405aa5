// The energy budget of a database that is being deleted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'

const account = 'acct_1'

test(
  'the budget of a deleted database limits its server until that is gone',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await addTestAccount(state, { id: account, env: 'test', lowWater: 0n })
    const { rows } = await state.query<{ id: string }>(
      "select add_database($1, 'notes', 'local', 9, 1000000) as id",
      [account],
    )
    const id = rows[0]?.id ?? ''
    await setEnergyBudget(state, { id, account, budget: '1 kJ/day', operations: [] })
    const budgets = async () =>
      (await state.query('select from budgets where id = $1', [id])).rowCount
    await state.query('select delete_database($1)', [id])
    assert.equal(await budgets(), 1)
    await state.query("select move_resource($1, 'deleted')", [id])
    assert.equal(await budgets(), 0)
  },
)
