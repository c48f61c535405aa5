// The end of the money of an account whose lots say more than its balance: there is nothing to give back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { createMoneyEnd } from './money-end.ts'
import { applyFacts } from './start-payment.ts'
import { ledgerOfFile } from './testing.fixture.ts'

let state: State
ledgerOfFile(2, (opened) => {
  state = opened
})

test(
  'a refund that cannot begin is skipped, without an audit entry',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'leaver', env: 'test', lowWater: 1_000_000_000_000n })
    await state.query(
      "select begin_payment('pay_1', 'leaver', 'card-test', 'topup', 5e12, null, 5)",
    )
    const pusd = '5000000000000'
    await applyFacts(state, 'card-test', [
      { id: 'f1', type: 'captured', payment: 'pay_1', reference: 'r1', pusd, unit: 'tUSD' },
    ])
    await state.query("update wallets set posted = 0 where id = 'money:leaver'")
    // It has a name and no calls: none is to be made.
    const adapters = [{ name: 'card-test' } as PaymentAdapter]
    const leave = createMoneyEnd({ state, log: undefined as never, adapters })
    assert.equal(await leave('leaver', new AbortController().signal), undefined)
    const { rows } = await state.query("select action from audit_entries where account = 'leaver'")
    assert.deepEqual(rows, [])
  },
)
