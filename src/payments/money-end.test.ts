// The end of the money of an account whose lots say more than its balance: there is nothing to give back.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { createMoneyEnd } from './money-end.ts'
import { refundHandlers } from './stablecoin/refund-control.ts'
import { applyFacts } from './start-payment.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

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

test(
  'unspent money of a stablecoin payment waits for the operator, once, and for the refusal',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'coins', env: 'test', lowWater: 1_000_000_000_000n })
    await state.query(
      "select begin_payment('pay_2', 'coins', 'stablecoin-test', 'topup', 5e12, null, 5)",
    )
    await state.query(
      `insert into stablecoin_payments (payment, network, token, receiver, sender, units, confirmations_needed,
         from_block, created_at) values ('pay_2', 'eip155:1', '0x1', '0x2', '0x3', 5000000, 3, 0, ledger_now())`,
    )
    const captured = { id: 'f2', type: 'captured', payment: 'pay_2', reference: 'r2' }
    await applyFacts(state, 'stablecoin-test', [
      { ...captured, pusd: '5000000000000', unit: 'tUSD' },
    ])
    const leave = createMoneyEnd({ state, log: undefined as never, adapters: [] })
    const { signal } = new AbortController()
    assert.equal(await leave('coins', signal), 'refunds are under way')
    assert.equal(await leave('coins', signal), 'refunds are under way')
    const list = refundHandlers(state, [])['refund.list']
    const [refund, second] = await list({}, { signal } as never)
    assert.deepEqual(
      [refund?.payment, refund?.account, refund?.units, refund?.receiver, second],
      ['pay_2', 'coins', '5000000', '0x3', undefined],
    )
    const alarms = async () =>
      (await state.query("select kind from alarms where detail ->> 'account' = 'coins'")).rows
    assert.deepEqual(await alarms(), [{ kind: 'refund_to_make' }])
    const told = { id: 'f3', type: 'refund_failed', payment: 'pay_2', refund: refund?.id }
    await applyFacts(state, 'stablecoin-test', [told])
    assert.equal(await leave('coins', signal), undefined)
    assert.deepEqual(await alarms(), [{ kind: 'refund_to_make' }, { kind: 'account_money_left' }])
  },
)
