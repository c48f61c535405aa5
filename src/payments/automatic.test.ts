// Automatic top-ups that are begun by several processes at once.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'

const AT_ONCE = 8
let server: TestUrl
let state: State
before(async () => {
  if (whyNoState() !== false) return
  server = await openTestUrl()
  state = await openLedgerState(server.of, AT_ONCE)
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const ACCOUNTS = `
  with made as (insert into accounts (id, env, low_water_pusd)
    select 'acct_' || n, 'test', 0 from generate_series(1, 200) n returning id),
  purses as (insert into wallets (id, unit, bounded) select 'money:' || id, 'tUSD', true from made),
  cards as (insert into payment_methods (id, account, processor, reference, state, created_at)
    select 'card_' || id, id, 'card-test', 'pm', 'active', now() from made)
  insert into payment_accounts (account, auto_amount_pusd, auto_below_pusd, auto_month_pusd)
    select id, 10, 10, 10 from made returning account`

test(
  'one is begun for an account, so the month’s most is kept',
  { skip: whyNoState() },
  async () => {
    const accounts = (await state.query<{ account: string }>(ACCOUNTS)).rows
    const atOnce = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: AT_ONCE }, work))
    // Each on a connection that is open.
    await atOnce(() => state.query('select pg_sleep(0.05)'))
    const begin = () =>
      state.query<{ account: string }>(
        "select account from begin_automatic('card-test', 'test', 500)",
      )
    const begun = (await atOnce(begin)).flatMap(({ rows }) => rows.map(({ account }) => account))
    assert.deepEqual(begun.toSorted(), accounts.map(({ account }) => account).toSorted())
    assert.deepEqual((await begin()).rows, [])
  },
)
