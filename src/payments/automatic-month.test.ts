// The most that automatic top-ups bring in a month, which is a month of the calendar, of UTC; and when one is begun again.
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { accountRow } from './account-row.ts'

const OPTIONS = { skip: whyNoState() }

let state: State
ledgerOfFile(1, async (opened) => {
  state = opened
  await addTestAccount(state, { id: 'payer', env: 'test', lowWater: 0n })
  await state.query("insert into wallets (id, unit, bounded) values ('money:payer', 'tUSD', true)")
  await state.query(
    `insert into payment_methods (id, account, processor, reference, state, created_at)
     values ('card_1', 'payer', 'card-test', 'pm_1', 'active', now())`,
  )
  await state.query(
    `insert into payment_accounts (account, auto_amount_pusd, auto_below_pusd, auto_month_pusd)
     values ('payer', 10, 10, 10)`,
  )
})
beforeEach(async () => {
  await state?.query('delete from payments')
})

/** The payments that begin at this time. */
async function begin(time: string): Promise<string[]> {
  await state.query("select set_config('ergon.now', $1, false)", [time])
  const { rows } = await state.query<{ id: string }>(
    "select id from begin_automatic('card-test', 'test', 5)",
  )
  return rows.map(({ id }) => id)
}
const end = (id: string | undefined, outcome: string) =>
  state.query('update payments set state = $2 where id = $1', [id, outcome])

test('payments of a month count until the month ends, and not longer', OPTIONS, async () => {
  const [paid] = await begin('2026-03-01T00:00:00Z')
  await end(paid, 'captured')
  assert.deepEqual(await begin('2026-03-31T23:59:59Z'), [])
  const [next] = await begin('2026-04-01T00:00:00Z')
  await end(next, 'captured')
  const [late] = await begin('2026-05-31T23:59:59Z')
  await end(late, 'captured')
  assert.equal((await begin('2026-06-01T00:00:00Z')).length, 1)
})

for (const outcome of ['failed', 'voided', 'expired'])
  test(
    `one that is ${outcome} is begun again after a day, and counts for no month`,
    OPTIONS,
    async () => {
      const [first] = await begin('2026-03-10T00:00:00Z')
      await end(first, outcome)
      assert.deepEqual(await begin('2026-03-10T23:59:59Z'), [])
      const { auto_topup: told } = await accountRow(state, 'payer')
      assert.equal(told?.month_pusd, '0')
      assert.equal((await begin('2026-03-11T00:00:01Z')).length, 1)
    },
  )
