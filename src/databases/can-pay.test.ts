import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'

test(
  'an account pays with its balance, or with what is left of the free tier',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 1)
    await addTestAccount(state, { id: 'acct_a', env: 'test', lowWater: 0n })
    const canPay = async () =>
      (await state.query<{ can: boolean }>("select account_can_pay('acct_a') as can")).rows[0]?.can
    assert.equal(await canPay(), true, 'the free tier is not begun')
    await state.query(
      "insert into prices (id, pusd_per_j, free_tier_nj) values ('none_free', 1, 0)",
    )
    assert.equal(await canPay(), false, 'nothing is free')
    await state.query(
      `insert into wallets (id, unit, posted, bounded) select 'free:acct_a:' || to_char(ledger_now()
     at time zone 'UTC', 'YYYY-MM-DD'), 'nJ', 1, true`,
    )
    assert.equal(await canPay(), true, 'some of today is left')
    await state.query("update accounts set funded = true where id = 'acct_a'")
    assert.equal(await canPay(), false, 'funded, and nothing on file')
    await state.query(
      "insert into wallets (id, unit, posted, bounded) values ('money:acct_a', 'tUSD', 1, true)",
    )
    assert.equal(await canPay(), true)
  },
)
