// The sums of all charges against the rows and the bundles of the ledger, to the nanojoule.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import { bundleOldest } from '#receipts/bundling/bundle-charges.ts'
import { openLog, type OldCharge } from '#receipts/bundling/bundled-ledger.fixture.ts'
import type { State } from '#state/connect.ts'
import { chargedSums, createChargedReader } from './charged-sums.ts'

const DAY = '2026-01-03T00:00:00.000Z'
const DAY_MS = Date.parse(DAY)
const HOUR_MS = 3_600_000

const chargesOf = (account: string, count: number, fromMs: number): OldCharge[] =>
  Array.from({ length: count }, (_, nth) => ({
    account,
    operation: 'chat.create',
    process: `gw-${account}`,
    toMs: fromMs + nth * 60_000,
    energies: [1_000_003 + nth * 7, 11],
    method: 'model',
    free: false,
  }))

/** A charge that no audit has summed. */
const postFresh = (state: State, nth: number, [account, at, energy]: readonly string[]) =>
  state.query(
    `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status, energy_nj, carbon_pg,
       charge_pusd, free, to_at, hash, bytes)
     select 'gw-9.1', $1::int, 'rcpt_fresh_' || $1::int, $2, 100000 + $1::int, size + $1::int, 'chat.create', 200, $3, 0, 0, true, $4, '', ''
     from log_head`,
    [nth, account, energy, at],
  )

const LEDGER = `
  select coalesce(sum(n), 0)::text as charges, coalesce(sum(nj), 0)::text as energy_nj from (
    select account, to_at, 1 as n, energy_nj as nj from charges
    union all select account, null, last_seq - first_seq + 1, energy_nj from charge_bundles) c
  where`

test(
  'chargedSums() are the sums of all rows and bundles of the ledger, and of the day of UTC',
  { skip: whyNoState() },
  async () => {
    await using url = await openTestUrl()
    await using state = await openLedgerState(url.of, 2)
    const none = { charges: '0', energy_nj: '0' }
    assert.deepEqual(await chargedSums(state), { day: none, all: none, nobody: none })
    const log = openLog(state)
    // The last of these end in the day.
    await log.post(chargesOf('acct_a', 200, DAY_MS - 150 * 60_000))
    await log.post(chargesOf('acct_b', 30, DAY_MS + HOUR_MS))
    await log.post(chargesOf('nobody', 5, DAY_MS + HOUR_MS))
    const until = { before: new Date(DAY_MS), until: null }
    assert.equal(await bundleOldest(state, 'acct_a', until), 150)
    for (const [nth, fresh] of [
      ['acct_b', '2026-01-03T02:00:00Z', '12345678901234567890123'],
      ['acct_b', '2026-01-02T23:59:59.999Z', '17'],
      ['nobody', '2026-01-03T02:00:00Z', '19'],
    ].entries())
      await postFresh(state, nth, fresh)
    const ofLedger = async (where: string) => (await state.query(`${LEDGER} ${where}`)).rows[0]
    const sums = await state.session(async (session) => {
      await session.query("set ergon.now = '2026-01-03T12:00:00Z'")
      return await chargedSums(session)
    })
    assert.deepEqual(sums, {
      all: await ofLedger("account <> 'nobody'"),
      nobody: await ofLedger("account = 'nobody'"),
      // Bundled charges are of the days before.
      day: await ofLedger(`account <> 'nobody' and to_at >= '${DAY}'`),
    })
    assert.equal(BigInt(sums.all.energy_nj) > 12345678901234567890123n, true)
    assert.deepEqual([sums.all.charges, sums.day.charges, sums.nobody.charges], ['232', '81', '6'])
  },
)

const ROW = Object.fromEntries(
  ['all', 'day', 'nobody'].flatMap((of) => [
    [`${of}_charges`, '1'],
    [`${of}_nj`, '2'],
  ]),
)

test('the sums are read once for all who ask, are kept for some seconds, and fail alone', async () => {
  let [reads, nowMs, isBroken] = [0, 0, false]
  const state = {
    query: async () => {
      reads++
      if (isBroken) throw new Error('planted')
      return await Promise.resolve({ rows: [ROW] })
    },
  } as unknown as State
  const read = createChargedReader(state, { monotonicMs: () => nowMs })
  const sum = { charges: '1', energy_nj: '2' }
  const sums = { day: sum, all: sum, nobody: sum }
  assert.deepEqual(await Promise.all([read(), read(), read()]), [sums, sums, sums])
  assert.equal(reads, 1)
  nowMs = 5000
  await read()
  assert.equal(reads, 1)
  nowMs = 10_000
  isBroken = true
  assert.equal(await read(), null)
  isBroken = false
  assert.deepEqual(await read(), sums)
})

test('sums that take long are left out after a second', async () => {
  const state = { query: () => new Promise(() => undefined) } as unknown as State
  assert.equal(await createChargedReader(state)(), null)
})
