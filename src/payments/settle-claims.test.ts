// The claims of many payments are settled beside work that holds a wallet and then needs the head of the log.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { forgetAndSettle } from './reconcile.ts'
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
      settling = forgetAndSettle(state, signal)
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

test(
  'claims take turns, and one that fails holds up no other',
  { skip: whyNoState() },
  async () => {
    await addTestAccount(state, { id: 'many', env: 'test', lowWater: 0n })
    await state.query("insert into wallets (id, unit, bounded) values ('money:many', 'tUSD', true)")
    // One more than a run takes.
    await state.query(
      `with made as (insert into payments (id, account, processor, kind, amount_pusd, state, created_at, changed_at)
       select 'pay_a' || n, 'many', 'card-test', 'topup', 1, 'captured', now(), now() from generate_series(1, 51) n
       returning id)
     insert into payment_claims (id, payment, kind, amount_pusd, state, created_at)
       select 'dp_' || id, id, 'dispute', 1, 'taken', now() from made`,
    )
    // It cannot be taken: its payment brought no lot.
    await state.query(
      `insert into payment_claims (id, payment, kind, amount_pusd, state, created_at)
     values ('dp_1', 'pay_a1', 'dispute', 1, 'told', '-infinity')`,
    )
    const { signal } = new AbortController()
    const failures: unknown[] = []
    for (let run = 0; run < 3; run++)
      await forgetAndSettle(state, signal).catch((error: unknown) => failures.push(error))
    assert.ok(failures.length > 0)
    const { rows } = await state.query<{ id: string }>(
      "select id from payments where account = 'many' and state <> 'disputed'",
    )
    assert.deepEqual(rows, [{ id: 'pay_a1' }], String(failures[0]))
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
