// Calls to a processor that always fail, and the later ones behind them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { fault } from '#contract/errors.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { forgetRemoved } from './removed-methods.ts'
import { reconcilePayments } from './reconcile.ts'

const FAILING = 50
const PAYMENTS = 60
const log = createLogger('test', { level: 'error', write: () => undefined })

let state: State
ledgerOfFile(2, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'acct_1', env: 'test', lowWater: 0n })
})

test('payments whose end always fails hold up no later one', { skip: whyNoState() }, async () => {
  await state.query(
    `insert into payments (id, account, processor, kind, amount_pusd, reference, state, created_at, changed_at)
       select 'pay_' || n, 'acct_1', 'card-test', 'topup', 10, 'pi_' || n, 'requires_action',
         now() - interval '2 days' + make_interval(secs => n), now()
       from generate_series(1, $1) n`,
    [PAYMENTS],
  )
  const ended = new Set<number>()
  const adapter = {
    name: 'card-test',
    async *reconcile() {},
    look: async () => [],
    async void(id: string) {
      const nth = Number(id.slice('pay_'.length))
      if (nth <= FAILING) throw fault('payment_processor_away', 'Could not end the payment')
      ended.add(nth)
    },
  } as Partial<PaymentAdapter> as PaymentAdapter
  for (let run = 0; run < 2; run++)
    await reconcilePayments({ state, adapter, log }, new AbortController().signal)
  assert.equal(ended.size, PAYMENTS - FAILING)
})

test(
  'cards that always fail to be forgotten hold up no later one',
  { skip: whyNoState() },
  async () => {
    await state.query(
      `insert into payment_methods (id, account, processor, reference, state, to_forget, created_at)
       select 'pm_' || lpad(n::text, 3, '0'), 'acct_1', 'card-test', n::text, 'removed', true, now()
       from generate_series(1, $1) n`,
      [PAYMENTS],
    )
    const forgotten = new Set<number>()
    const adapter = {
      name: 'card-test',
      async forget(reference: string) {
        if (Number(reference) <= FAILING)
          throw fault('payment_processor_away', 'Could not forget the card')
        forgotten.add(Number(reference))
      },
    } as Partial<PaymentAdapter> as PaymentAdapter
    for (let run = 0; run < 2; run++)
      await forgetRemoved({ state, adapter, log }, new AbortController().signal)
    assert.equal(forgotten.size, PAYMENTS - FAILING)
  },
)
