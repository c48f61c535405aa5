// Walks over random ledgers: times that jump back and repeat, pages of any size, and postings with old times between two
// pages. A walk gives each entry of its first moment once, in order, and its entries add up to its sums.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addTestAccount } from '#ledger/test-state.fixture.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import type { LedgerFilter, LedgerPosition, LedgerRow } from './ledger-entry.ts'
import { FIRST_POSITION, ledgerPage, newestOf } from './ledger-page.ts'
import { ledgerSums } from './ledger-sums.ts'
import { ledgerOfFile } from '#ledger/ledger-of-file.fixture.ts'

const RUNS = 30
const START_MS = Date.parse('2026-11-25T00:00:00Z')

let leaf = 0
let state: State
ledgerOfFile(2, (opened) => {
  state = opened
})

type Posting = { readonly kind: 'charge' | 'topup'; readonly atS: number; readonly pusd: number }
const posting: fc.Arbitrary<Posting> = fc.record({
  kind: fc.constantFrom('charge', 'charge', 'topup'),
  // Few times, so that many are equal.
  atS: fc.nat(7),
  pusd: fc.integer({ min: 1, max: 1000 }),
})

async function post(account: string, { kind, atS, pusd }: Posting): Promise<void> {
  const at = new Date(START_MS + atS * 1000)
  if (kind === 'topup')
    await state.query(
      `insert into transfers (debit, credit, amount, kind, at)
       values ('operator:funds:tUSD', 'money:' || $1, $2, 'top_up', $3)`,
      [account, pusd, at],
    )
  else
    await state.query(
      `with counted as (update accounts set charge_count = charge_count + 1 where id = $1 returning charge_count)
       insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status, energy_nj, carbon_pg,
         charge_pusd, free, to_at, hash, bytes)
       select 'gw-1.1', $2::bigint, 'rcpt_' || $2::text, $1, charge_count, $2, 'chat.create', 200, 1, 1, $3, false, $4, '', ''
       from counted`,
      [account, leaf++, pusd, at],
    )
}

async function walk(
  filter: LedgerFilter,
  limit: number,
  between: () => Promise<void>,
): Promise<{ readonly rows: readonly LedgerRow[]; readonly sums: unknown }> {
  let after: LedgerPosition = { ...FIRST_POSITION, ...(await newestOf(state, filter.account)) }
  const sums = await ledgerSums(state, filter)
  const rows: LedgerRow[] = []
  for (;;) {
    const page = await ledgerPage(state, filter, { after, limit })
    rows.push(...page)
    const last = page.at(-1)
    if (last === undefined) return { rows, sums }
    after = { ...after, at: last.at_us, rank: last.rank, number: last.number }
    await between()
  }
}

test(
  'a walk over the ledger gives each entry of its first moment once',
  { skip: whyNoState(), timeout: 120_000 },
  async () => {
    let runs = 0
    const postings = fc.array(posting, { maxLength: 25 })
    const walks = fc.record({
      first: postings,
      late: postings,
      limit: fc.integer({ min: 1, max: 7 }),
    })
    const walked = fc.asyncProperty(walks, async ({ first, late, limit }) => {
      const account = `acct_${runs++}`
      await addTestAccount(state, { id: account, env: 'test', lowWater: 0n })
      await state.query("insert into wallets (id, unit, bounded) values ($1, 'tUSD', true)", [
        `money:${account}`,
      ])
      for (const one of first) await post(account, one)
      const waiting = [...late]
      const filter = { account, from: null, to: null, operations: null, kind: null }
      const { rows, sums } = await walk(filter, limit, async () => {
        const next = waiting.shift()
        if (next !== undefined) await post(account, next)
      })
      assert.equal(rows.length, first.length)
      assert.equal(new Set(rows.map(({ id }) => id)).size, first.length)
      const times = rows.map(({ at }) => at.getTime())
      assert.deepEqual(
        times,
        times.toSorted((a, b) => b - a),
      )
      const sumOf = (kind: Posting['kind']) =>
        first.reduce((sum, one) => sum + (one.kind === kind ? one.pusd : 0), 0)
      const total = rows.reduce((sum, { amount }) => sum + Number(amount), 0)
      assert.equal(total, sumOf('topup') - sumOf('charge'))
      assert.deepEqual(sums, {
        entries: first.length,
        in_pusd: String(sumOf('topup')),
        out_pusd: String(sumOf('charge')),
        energy_nj: String(first.filter(({ kind }) => kind === 'charge').length),
      })
    })
    await fc.assert(walked, { numRuns: RUNS, endOnFailure: true })
  },
)
