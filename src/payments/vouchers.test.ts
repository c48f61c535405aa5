import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { voucherCodes, voucherHash } from './voucher-code.ts'

const TRIES = 50
const ROUNDS = 5
const CONNECTIONS = 25

test(
  'redeem_voucher() redeems once, whoever asks at the same time on how many connections',
  { skip: whyNoState(), timeout: 120_000 },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, CONNECTIONS)
    const accounts = Array.from({ length: TRIES }, (_, nth) => `acct_${nth}`)
    for (const id of accounts) await addTestAccount(state, { id, env: 'test', lowWater: 0n })
    for (let round = 0; round < ROUNDS; round++) {
      const hash = voucherHash(voucherCodes('secret')(`voucher_${round}`), 'secret')
      await state.query(
        `insert into vouchers (id, code_hash, env, amount_pusd, kind, priority, created_at)
         values ($1, $2, 'test', 1000, 'points', 20, now())`,
        [`voucher_${round}`, hash],
      )
      const answers = await Promise.all(
        accounts.map((account) =>
          state.query<{ redeemed: boolean }>('select redeemed from redeem_voucher($1, $2)', [
            account,
            hash,
          ]),
        ),
      )
      assert.equal(answers.filter(({ rows }) => rows[0]?.redeemed === true).length, 1)
    }
    const { rows } = await state.query(
      'select sum(posted)::int as posted from wallets where id like $1',
      ['money:%'],
    )
    assert.deepEqual(rows, [{ posted: 1000 * ROUNDS }])
    assert.deepEqual((await state.query('select * from ledger_faults()')).rows, [])
  },
)

test('a code is read in any case, with dashes or without, and with letters that look like digits', () => {
  const code = voucherCodes('secret')('voucher_1')
  assert.match(code, /^([0-9a-z]{4}-){5}[0-9a-z]{4}$/)
  const hash = voucherHash(code, 'secret')
  const typed = code.toUpperCase().replaceAll('-', '').replaceAll('0', 'O').replaceAll('1', 'l')
  assert.deepEqual(voucherHash(typed, 'secret'), hash)
  assert.notDeepEqual(voucherHash(code, 'other'), hash)
})
