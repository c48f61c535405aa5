// The ledger of an account with millions of charges: pages, look-ups and sums, on a state of the bench's own.
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import type { LedgerFilter } from '#payments/ledger-entry.ts'
import { FIRST_POSITION, ledgerOfId, ledgerPage, newestOf } from '#payments/ledger-page.ts'
import { ledgerSums } from '#payments/ledger-sums.ts'
import { openTestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { median, type Section } from './report.ts'

const CHARGES = 10_000_000
const QUICK_CHARGES = 500_000
const BATCH = 250_000
const TOP_UPS = 50
const ACCOUNT = 'acct_0'
const ROUNDS = 11
const PAGE = 101
const PAGE_MS_MAX = 50
/** The time from one charge to the next. */
const GAP_S = 0.2
const ALL: LedgerFilter = { account: ACCOUNT, from: null, to: null, operations: null, kind: null }

export async function runLedgerPages(isQuick = false): Promise<Section> {
  const charges = isQuick ? QUICK_CHARGES : CHARGES
  await using server = await openTestUrl({ fsync: 'off', max_wal_size: '2GB' })
  await using state = await openLedgerState(server.of, 2)
  await fill(state, charges)
  const start = { ...FIRST_POSITION, ...(await newestOf(state, ACCOUNT)) }
  const at = (back: number) => new Date(Date.now() - back * charges * GAP_S * 1000)
  const middle = { ...start, at: at(0.5).toISOString(), rank: 1 as const, number: '1' }
  const page = (filter: LedgerFilter, after = start) =>
    ledgerPage(state, filter, { after, limit: PAGE })
  const rare = { ...ALL, operations: ['database.list'] }
  const asks: [name: string, ask: () => Promise<unknown>][] = [
    ['first page of 100', () => page(ALL)],
    ['page in the middle', () => page(ALL, middle)],
    ['page of a week ago', () => page({ ...ALL, from: at(0.31), to: at(0.3) })],
    ['top-ups alone', () => page({ ...ALL, kind: 'topup' })],
    ['look-up by a request', () => ledgerOfId(state, ACCOUNT, `req_${'5'.padStart(26, '0')}`)],
    ['sums of all', () => ledgerSums(state, ALL)],
    ['page of a service with one charge of 1000', () => page(rare)],
  ]
  const timed: { readonly name: string; readonly ms: number }[] = []
  for (const [name, ask] of asks) timed.push({ name, ms: await timeOf(ask) })
  return {
    name: 'ledger-pages',
    title: `The ledger of an account with ${charges.toLocaleString('en')} charges`,
    bars: timed
      .slice(0, -1)
      .map(({ name, ms }) => ({ what: name, value: ms, most: PAGE_MS_MAX, digits: 1, unit: 'ms' })),
    tables: [
      {
        caption: `Median of ${ROUNDS}`,
        columns: ['Question', 'ms'],
        rows: timed.map(({ name, ms }) => [name, ms.toFixed(1)]),
      },
    ],
    notes: ['A page of a rare service reads the charges between its entries.'],
  }
}

async function timeOf(ask: () => Promise<unknown>): Promise<number> {
  const all: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now()
    await ask()
    all.push(performance.now() - begun)
  }
  return median(all)
}

/** One charge of 1000 is of another service. The audit sums them, as it does each minute. */
async function fill(state: State, charges: number): Promise<void> {
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 1n })
  for (let from = 0; from < charges; from += BATCH)
    await state.query(
      `insert into charges (session, seq, id, account, account_seq, leaf_index, token, operation, status, energy_nj,
         carbon_pg, charge_pusd, free, to_at, hash, bytes)
       select 'gw-1.1', n, 'rcpt_' || lpad(n::text, 26, '0'), $1, n + 1, n, 'tok_1',
         case when n % 1000 = 0 then 'database.list' else 'chat.create' end, 200, n, 1, 1, false,
         now() - make_interval(secs => ($2 - n) * $5::float8), '', convert_to('{"parts":[{"method":"model"}],"price_id":""}', 'UTF8')
       from generate_series($3::bigint, $4::bigint) n`,
      [ACCOUNT, charges, from, Math.min(from + BATCH, charges) - 1, GAP_S],
    )
  await state.query('update accounts set charge_count = $2 where id = $1', [ACCOUNT, charges])
  for (let made = 0; made < TOP_UPS; made++)
    await state.query("select grant_funds($1, 1000000, 'funds', 50, 'top_up')", [ACCOUNT])
  for (let size = BATCH; size <= charges; size += BATCH) {
    await state.query('update log_head set size = $1', [size])
    await state.query('select audit_charges()')
  }
  await state.query('analyze charges')
  await state.query('analyze transfers')
}
