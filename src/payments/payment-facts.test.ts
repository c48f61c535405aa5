import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { applyFacts } from './start-payment.ts'

let state: State
ledgerOfFile(1, (opened) => {
  state = opened
})

test(
  'a fact that comes before the answer to our own call is applied when it comes again',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'payer', env: 'test', lowWater: 0n })
    await state.query("select begin_payment('pay_1', 'payer', 'card-test', 'topup', 5e12, null, 5)")
    // It names the payment as the processor does, which our row does not know yet.
    const money = { pusd: '5000000000000', unit: 'tUSD' }
    const fact = { id: 'evt_1', type: 'captured', reference: 'pi_1', ...money }
    const tell = () => applyFacts(state, 'card-test', [fact])
    assert.deepEqual(await tell(), ['not_ours'])
    await state.query("select note_payment('pay_1', 'pi_1', null, null)")
    assert.deepEqual(await tell(), ['applied'])
    assert.deepEqual(await tell(), ['known'])
    const { rows } = await state.query("select state from payments where id = 'pay_1'")
    assert.deepEqual(rows, [{ state: 'captured' }])
  },
)
