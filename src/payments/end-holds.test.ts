import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLogger } from '#base/log.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { PaymentAdapter } from './adapter.ts'
import { endHolds } from './end-holds.ts'
import { applyFacts } from './start-payment.ts'

const FIVE_DAYS_MS = 5 * 86_400_000
const log = createLogger('test', { level: 'error', write: () => undefined })

let state: State
ledgerOfFile(1, (opened) => {
  state = opened
})

test(
  'an unused hold is given back as soon as the deletion of its account has begun',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'leaver', env: 'test', lowWater: 0n })
    await state.query("select begin_payment('pay_1', 'leaver', 'card-test', 'hold', 5e12, null, 5)")
    const money = { pusd: '5000000000000', unit: 'tUSD' }
    const until = new Date(Date.now() + FIVE_DAYS_MS).toISOString()
    await applyFacts(state, 'card-test', [
      { id: 'f1', type: 'authorized', payment: 'pay_1', reference: 'pi_1', until, ...money },
    ])
    const calls: string[] = []
    const adapter = {
      name: 'card-test',
      void: async (id: string) => void calls.push(`void ${id}`),
      capture: async (id: string) => void calls.push(`capture ${id}`),
    } as Partial<PaymentAdapter> as PaymentAdapter
    const run = async () => {
      await endHolds({ state, log, adapter }, new AbortController().signal)
      return calls.splice(0)
    }
    assert.deepEqual(await run(), [])
    await state.query(
      "insert into account_deletions (account, asked_at, due_at) values ('leaver', now(), now())",
    )
    // Until the deletion has begun, its owner can take it back.
    assert.deepEqual(await run(), [])
    await state.query("select begin_deletion('leaver')")
    assert.deepEqual(await run(), ['void pay_1'])
  },
)
