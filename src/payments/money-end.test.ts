// The end of the money of an account whose lots say more than its balance: there is nothing to give back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { createMoneyEnd } from './money-end.ts'
import { applyFacts } from './start-payment.ts'

let server: TestUrl
let state: State
before(async () => {
  if (whyNoState() !== false) return
  server = await openTestUrl()
  state = await openLedgerState(server.of, 2)
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
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
