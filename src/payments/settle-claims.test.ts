// The claims of many payments are settled beside work that holds a wallet and then needs the head of the log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { settleAndForget } from './reconcile.ts'
import { applyFacts } from './start-payment.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

const ACCOUNTS = ['first', 'second']
let state: State
ledgerOfFile(4, (opened) => {
  state = opened
})

test(
  'while a wallet is held, the claims of another account leave the head of the log free',
  { skip: whyNoState() },
  async () => {
    for (const id of ACCOUNTS) {
      await addTestAccount(state, { id, env: 'test', lowWater: 1_000_000_000_000n })
      await state.query("select begin_payment($1, $2, 'card-test', 'topup', 5e12, null, 5)", [
        `pay_${id}`,
        id,
      ])
      const of = { payment: `pay_${id}`, pusd: '5000000000000', unit: 'tUSD' }
      await applyFacts(state, 'card-test', [
        { ...of, id: `${id}.captured`, type: 'captured', reference: id },
        { ...of, id: `${id}.disputed`, type: 'disputed', dispute: `dp_${id}` },
      ])
    }
    const { signal } = new AbortController()
    let settling = Promise.resolve()
    await state.transaction(async (transaction) => {
      await transaction.query("select from wallets where id = 'money:second' for no key update")
      settling = settleAndForget(state, signal)
      await untilItWaits()
      // A deadlock would be seen and the work done again, so the lock must be free at once.
      await transaction.query('select from log_head for update nowait')
    })
    await settling
    const { rows } = await state.query<{ state: string }>('select state from payment_claims')
    assert.deepEqual(
      rows.map((row) => row.state),
      ['taken', 'taken'],
    )
  },
)

async function untilItWaits(): Promise<void> {
  const end = Date.now() + 5000
  while (Date.now() < end) {
    const { rows } = await state.query('select from pg_locks where not granted limit 1')
    if (rows.length > 0) return
  }
  throw new Error('nothing waits for the wallet')
}
