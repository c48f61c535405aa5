// The energy budget of a database that is being deleted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBudgetList } from '#accounts/operations/budget-list.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { CORE_STATES } from '#live/gateway.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'

const account = 'acct_1'

test(
  'the budget of a deleted database limits its server until that is gone, and is in no list',
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
    const list = createBudgetList({ state, posted: async () => undefined, now: Date.now })
    const call = {
      caller: { account },
      query: () => new URLSearchParams(),
      signal: AbortSignal.timeout(9999),
    }
    const listed = async () => {
      const reply = (await list(call as never)) as { body?: () => { data: unknown[] } }
      return reply.body?.().data.length
    }
    const shown = async () =>
      (
        await state.query<{ count: number }>(
          `select coalesce(json_array_length((${CORE_STATES['budgets']})), 0) as count from accounts a where a.id = '${account}'`,
        )
      ).rows[0]?.count
    assert.deepEqual([await listed(), await shown()], [1, 1])
    await state.query('select delete_database($1)', [id])
    assert.equal(await budgets(), 1)
    assert.deepEqual([await listed(), await shown()], [0, 0])
    await state.query("select move_resource($1, 'deleted')", [id])
    assert.equal(await budgets(), 0)
  },
)
