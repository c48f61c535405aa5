import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { listAccounts } from './operator-account-list.ts'

test(
  'the day of an account is that of UTC: yesterday is left out',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    await state.query(`insert into accounts (id, name, env) values ('acct_day', 'day', 'test')`)
    await state.query(
      `insert into usage_hours (account, hour, operation, model, token, requests, energy_nj, carbon_pg, charge_pusd)
     select 'acct_day', date_trunc('day', now(), 'UTC') - n * interval '1 hour', 'model.list', '', '', n + 1, 0, 0, 0
     from generate_series(0, 1) n`,
    )
    const { data } = await listAccounts(state, new URLSearchParams({ limit: '1' }))
    assert.deepEqual(
      data.map(({ id, day }) => [id, day.requests]),
      [['acct_day', 1]],
    )
  },
)
