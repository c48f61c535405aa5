// Automatic top-ups: for which accounts they are begun, also by several processes at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

const AT_ONCE = 8
let state: State
ledgerOfFile(AT_ONCE, (opened) => {
  state = opened
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

/** An account with a card and automatic top-ups, and a wallet where it has had money. */
async function addAutomatic(account: string, hasWallet: boolean): Promise<void> {
  await state.query("insert into accounts (id, env, low_water_pusd) values ($1, 'test', 0)", [
    account,
  ])
  if (hasWallet)
    await state.query("insert into wallets (id, unit, bounded) values ($1, 'tUSD', true)", [
      `money:${account}`,
    ])
  await state.query(
    `insert into payment_methods (id, account, processor, reference, state, created_at)
     values ('card_' || $1, $1, 'card-test', 'pm', 'active', now())`,
    [account],
  )
  await state.query(
    `insert into payment_accounts (account, auto_amount_pusd, auto_below_pusd, auto_month_pusd)
     values ($1, 10, 10, 100)`,
    [account],
  )
}

const begunFor = async () =>
  (
    await state.query<{ account: string }>(
      "select account from begin_automatic('card-test', 'test', 500)",
    )
  ).rows.map(({ account }) => account)

test('one is begun for an account that never had money', { skip: whyNoState() }, async () => {
  await addAutomatic('acct_new', false)
  assert.deepEqual(await begunFor(), ['acct_new'])
})

test('none is begun while an account is suspended', { skip: whyNoState() }, async () => {
  await addAutomatic('acct_held', true)
  const suspend = "insert into account_suspensions (account, reason, at) values ($1, 'x', now())"
  await state.query(suspend, ['acct_held'])
  assert.deepEqual(await begunFor(), [])
  await state.query('delete from account_suspensions')
  assert.deepEqual(await begunFor(), ['acct_held'])
})
