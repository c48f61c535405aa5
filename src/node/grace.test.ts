// The grace on a real ledger: a minute of what the cells of an account use is kept of its balance.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nj } from '#base/units.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import type { MeterWindow, Share, SharePayer } from '#metering/window.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createGrace } from './grace.ts'

const FUNDS = 10_000_000n
/** A joule costs 69,444 pUSD. */
const J = 1_000_000_000n

const shareOf = (payer: SharePayer, energyNj: bigint): Share => ({
  name: 'cell',
  payer,
  cpuNs: 0n,
  dynamicNj: nj(energyNj - energyNj / 4n),
  idleNj: nj(energyNj / 4n),
})
const windowOf = (shares: readonly Share[]) => ({ shares }) as MeterWindow
const of = (account: string): SharePayer => ({ kind: 'account', account })

test(
  'the grace is a minute of the power of the last ten windows, and goes with the cells',
  { skip: whyNoState() },
  async () => {
    await using server = await openTestUrl()
    await using state = await openLedgerState(server.of, 2)
    for (const id of ['acct_a', 'acct_b', 'acct_poor']) {
      await addTestAccount(state, { id, env: 'test', lowWater: 0n })
      const funds = id === 'acct_poor' ? 50_000n : FUNDS
      await state.query("select grant_funds($1, $2, 'funds', 50, 'top_up')", [id, String(funds)])
    }
    const kept = async () => {
      const { rows } = await state.query<{ id: string; kept: string }>(
        `select substr(id, 7) as id, kept::text from wallets where id like 'money:acct%' and kept > 0 order by id`,
      )
      return Object.fromEntries(rows.map(({ id, kept }) => [id, kept]))
    }
    let isAway = false
    const query: State['query'] = (text, values) =>
      isAway ? Promise.reject(new Error('the state is away')) : state.query(text, values)
    const grace = createGrace({ state: { query } })
    const ten = async (shares: readonly Share[]) => {
      for (let nth = 1; nth <= 10; nth++) await grace.add(windowOf(shares))
    }
    const uses = [
      shareOf(of('acct_a'), J),
      // Two cells of an account add up; the operator's have no balance.
      shareOf(of('acct_b'), J / 2n),
      shareOf(of('acct_b'), J / 2n),
      shareOf(of('acct_poor'), J),
      shareOf({ kind: 'operator' }, 9n * J),
    ]
    for (let nth = 1; nth < 10; nth++) await grace.add(windowOf(uses))
    assert.deepEqual(await kept(), {}, 'ten windows set it')
    await grace.add(windowOf(uses))
    // 60 J; of a smaller balance all.
    assert.deepEqual(await kept(), { acct_a: '4166640', acct_b: '4166640', acct_poor: '50000' })

    // The power of these ten alone: 3 J in ten seconds are 18 J in a minute.
    await grace.add(windowOf([shareOf(of('acct_a'), 3n * J)]))
    for (let nth = 2; nth <= 10; nth++) await grace.add(windowOf([]))
    assert.deepEqual(await kept(), { acct_a: '1249992' })
    await ten([])
    assert.deepEqual(await kept(), {})

    // Windows of a failed call are not counted again.
    isAway = true
    await assert.rejects(ten(uses), /the state is away/)
    isAway = false
    await ten([shareOf(of('acct_a'), J)])
    assert.deepEqual(await kept(), { acct_a: '4166640' })
    assert.deepEqual((await state.query('select * from ledger_faults()')).rows, [])
  },
)
