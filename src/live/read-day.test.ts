// The first reading of a day: its band is known however many charges the day has, and is that of the usage.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { sumUsage } from '#ledger/usage.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { createReadAccounts } from './read-accounts.ts'

const skip = whyNoState()
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

const ACCOUNT = 'acct_0'
const DAY = '2026-01-02'
const PARTS = [
  { band_pct: '2', energy_nj: '90', meter: 'node', method: 'plug' },
  { band_pct: '40', energy_nj: '10', meter: 'node', method: 'learned' },
]

/** Charges of 100 nJ with the numbers from one to another. */
async function post(state: State, first: number, last: number): Promise<void> {
  await state.query(
    `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status,
      energy_nj, carbon_pg, charge_pusd, free, to_at, hash, bytes)
     select 'gw-1.1', n, 'rcpt_' || n, $1, n, n - 1, 'chat.create', 200, 100, 7, 3, false, $2, '', $3
     from generate_series($4::bigint, $5::bigint) n`,
    [
      ACCOUNT,
      new Date(`${DAY}T10:00:00Z`),
      Buffer.from(`{"parts":${JSON.stringify(PARTS)},"price_id":"price_1"}`),
      first,
      last,
    ],
  )
  await state.query('update log_head set size = $1', [last])
  await state.query('update accounts set charge_count = $1 where id = $2', [last, ACCOUNT])
}

test(
  'the band of a day of many charges is known, and so is what a sensor read',
  { skip },
  async () => {
    await using state = await openLedgerState(server.of, 2)
    await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 1_000_000n })
    await post(state, 1, 2500)
    await state.query('select audit_charges()')
    await post(state, 2501, 2600)
    const read = createReadAccounts({ state, frequent: state, meter: 'node', states: {} })
    const { today, charges } = await read.day(ACCOUNT, DAY)
    assert.equal(charges, '2600')
    assert.deepEqual(today, {
      requests: 2600,
      energyNj: 260_000n,
      carbonPg: 18_200n,
      chargePusd: 7800n,
      measuredNj: 234_000n,
      bandWeight: 2600n * (90n * 2n + 10n * 40n),
    })
    const [fresh] = await read.newCharges(
      [{ account: ACCOUNT, after: '2500', until: '2600' }],
      new Map(),
    )
    assert.deepEqual(
      [fresh?.sums.energyNj, fresh?.sums.measuredNj, fresh?.sums.bandWeight],
      [10_000n, 9000n, 100n * 580n],
    )
    const span = {
      account: ACCOUNT,
      from: new Date(`${DAY}T00:00:00Z`),
      to: new Date(`2026-01-03T00:00:00Z`),
    }
    const [usage] = await sumUsage(state, span, `''`, { offset: 0, limit: 1, bands: true })
    assert.deepEqual(
      [usage?.measured, usage?.weight],
      [String(today.measuredNj), String(today.bandWeight)],
    )
  },
)
