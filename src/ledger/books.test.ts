import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock, timestamp } from '#base/clock.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { auditCharges } from './audit.ts'
import { createLedger } from './ledger.ts'
import { createLogger } from '#base/log.ts'
import { keepBooks, thinWindows } from './tasks.ts'
import { addTestAccount, openLedgerState, testCharge } from './test-state.fixture.ts'
import type { TickDebit, TickRecord } from './tick.ts'

const skip = whyNoState()
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

const ACCOUNTS = Array.from({ length: 8 }, (_, index) => `acct_${index}`)
const AMOUNT = 4_000_000_000n

async function openFunded(connections: number): Promise<State> {
  const state = await openLedgerState(server.of, connections)
  for (const id of ACCOUNTS) {
    await addTestAccount(state, { id, env: 'test', lowWater: 1_000_000n })
    await fund(state, id, AMOUNT)
  }
  return state
}

const fund = (state: State, account: string, amount: bigint) =>
  state.query("select grant_funds($1, $2, 'test', 50, 'top_up', clock_timestamp() + '1 s')", [
    account,
    amount.toString(),
  ])

/** Ticks as fast as answers come, spending half of each lease; returns what it spent in all. */
async function hammer(state: State, process: string, ticks: number): Promise<bigint> {
  const ledger = createLedger(state)
  const { session } = await ledger.openSession(process)
  const leases = new Map<string, bigint>()
  let seq = 0n
  let spent = 0n
  for (let number = 1; number <= ticks; number++) {
    const records: TickRecord[] = []
    const debits: TickDebit[] = []
    for (const account of ACCOUNTS.toSorted(() => Math.random() - 0.5)) {
      const wallet = `money:${account}`
      const money = (leases.get(wallet) ?? 0n) / 2n
      if (money === 0n) continue
      const at = timestamp(Date.now())
      records.push(
        testCharge({
          session,
          seq: ++seq,
          account,
          ownNj: money,
          upstreamNj: 1000n,
          money,
          at,
        }),
      )
      debits.push({ seq, wallet, amount: money })
      spent += money
    }
    const wants = ACCOUNTS.flatMap((account) => [
      { wallet: `money:${account}`, amount: 50_000_000n },
      { wallet: `free:${account}`, amount: 1_000_000n },
    ])
    const input = { session, number: BigInt(number), epoch: 0n, meter: 'm1' }
    const answer = await ledger.tick({ ...input, records, debits, wants })
    for (const grant of answer.grants) leases.set(grant.wallet, grant.amount)
  }
  return spent
}

test(
  'ticks of two sessions beside top-ups, expiry and reconcile do not deadlock',
  { skip },
  async () => {
    await using state = await openFunded(8)
    const rest = async () => {
      for (let round = 0; round < 20; round++) {
        for (const account of ACCOUNTS) await fund(state, account, 1000n)
        await state.query('select expire_lots()')
        const { rows } = await state.query<{ faults: unknown }>('select reconcile() as faults')
        assert.deepEqual(rows[0]?.faults, [])
      }
    }
    const [one, two] = await Promise.all([
      hammer(state, 'gw-1', 40),
      hammer(state, 'gw-2', 40),
      rest(),
    ])
    const { rows } = await state.query<{ revenue: string; charged: string; alarms: string }>(
      `select (select posted from wallets where id = 'operator:revenue:tUSD') as revenue,
       (select sum(charge_pusd) from charges) as charged, (select count(*) from alarms) as alarms`,
    )
    assert.ok(one > 0n && two > 0n)
    assert.deepEqual(rows, [
      { revenue: String(one + two), charged: String(one + two), alarms: '0' },
    ])
  },
)

test('charges, transfers and windows refuse to be changed', { skip }, async () => {
  await using state = await openFunded(2)
  for (const table of ['charges', 'transfers', 'windows'])
    for (const change of [`update ${table} set `, `delete from ${table}`, `truncate ${table}`]) {
      // Charges may go into bundles: receipts/bundling/bundling.test.ts.
      if (change === 'delete from charges') continue
      const sql = change.endsWith('set ')
        ? `${change}${table === 'transfers' ? 'amount = 1' : "hash = ''"}`
        : change
      await assert.rejects(state.query(sql), { code: '23001' }, sql)
    }
})

const PLANTED: readonly [string, string][] = [
  ['units_sum_to_zero', "update wallets set posted = posted - 1 where id = 'operator:energy'"],
  ['reserved_is_leased', "update wallets set reserved = 1 where id = 'money:acct_0'"],
  [
    'lots_are_the_balance',
    "update lots set remaining = remaining - 1 where wallet = 'money:acct_1'",
  ],
  ['leaves_are_gapless', 'update log_head set size = size + 1'],
  ['account_sequences_are_gapless', "update accounts set charge_count = 3 where id = 'acct_2'"],
  ['energy_is_charged', "update wallets set posted = posted + 1 where id = 'energy:acct_3'"],
  [
    'revenue_is_charged',
    "update wallets set posted = posted + 1 where id = 'operator:revenue:USD'",
  ],
  [
    'wallets_not_overdrawn',
    "alter table wallets drop constraint wallets_check; update wallets set posted = -1 where id = 'money:acct_4'",
  ],
]
test('reconcile() names each broken invariant and stops paid admission', { skip }, async () => {
  await using state = await openFunded(1)
  await hammer(state, 'gw-1', 2)
  for (const [invariant, sql] of PLANTED) {
    await state.query('begin')
    await state.query(sql)
    await state.query('select reconcile()')
    const { rows } = await state.query<{ named: boolean; halted: boolean }>(
      `select exists (select from alarms where kind = 'books_do_not_add_up' and detail ->> 'invariant' = $1) as named,
         (select halted_at is not null from books) as halted`,
      [invariant],
    )
    assert.deepEqual(rows, [{ named: true, halted: true }], invariant)
    await state.query('rollback')
  }
  assert.equal((await state.query('select ledger_faults()')).rowCount, 0)
})

test('a tick says that the books are halted, until they add up again', { skip }, async () => {
  await using state = await openFunded(1)
  const ledger = createLedger(state)
  const { session } = await ledger.openSession('gw-1')
  let number = 0n
  const halted = async () => {
    const input = { session, number: ++number, epoch: 0n, meter: 'm1' }
    return (await ledger.tick({ ...input, records: [], debits: [], wants: [] })).halted
  }
  await state.query("update wallets set posted = posted - 1 where id = 'operator:energy'")
  await state.query('select reconcile()')
  assert.equal(await halted(), true)
  await state.query("update wallets set posted = posted + 1 where id = 'operator:energy'")
  await state.query('select reconcile()')
  assert.equal(await halted(), false)
})

test(
  'upkeep voids promises that ran out, expires lots and says that the books add up',
  { skip },
  async () => {
    await using state = await openLedgerState(server.of, 1)
    await addTestAccount(state, { id: 'acct_0', env: 'live', lowWater: 0n })
    const ago = "clock_timestamp() - interval '1 s'"
    await state.query(`select pending_credit('pend_1', 'acct_0', 5000, ${ago})`)
    await state.query(`select grant_funds('acct_0', 700, 'promotion', 10, 'promotion', ${ago})`)
    await state.query("select grant_funds('acct_0', 40, 'funds', 50, 'top_up')")
    const log = createLogger('test', { level: 'error' })
    assert.deepEqual(await keepBooks({ state, log }), [])
    const { rows } = await state.query(
      `select (select posted from wallets where id = 'money:acct_0') as left,
       (select state from pending_credits) as pending,
       (select posted from wallets where id = 'operator:loss:USD') as loss`,
    )
    assert.deepEqual(rows, [{ left: '40', pending: 'voided', loss: '0' }])
  },
)

test(
  'windows go when they are older than they are kept, some at once, and no other way',
  { skip },
  async () => {
    await using state = await openLedgerState(server.of, 1)
    const dayS = 86_400
    const nowS = Math.floor(Date.now() / 1000)
    await state.query(
      `insert into tariffs (meter, body) values ('one', '{}'), ('two', '{}')
       on conflict (meter) do nothing`,
    )
    await state.query(
      `insert into windows (session, seq, meter, k, reading_nj, hash, bytes)
       select meter, n, meter, $1 - n * 1000 + 500, 1, '', '' from unnest('{one,two}'::text[]) meter,
         generate_series(1, 2000) n`,
      [nowS],
    )
    const counts = async () => {
      const { rows } = await state.query<{ all: number; old: number }>(
        'select count(*)::int as all, count(*) filter (where k < $1)::int as old from windows',
        [nowS - 10 * dayS],
      )
      return rows[0]
    }
    const keeping = (windowsDays: number) => thinWindows({ state, clock: systemClock, windowsDays })
    await keeping(0)
    assert.deepEqual(await counts(), { all: 4000, old: 2272 })
    const { rows } = await state.query('select forget_windows($1, 5)', [nowS - 10 * dayS])
    assert.deepEqual(rows, [{ forget_windows: '5' }])
    await keeping(10)
    assert.deepEqual(await counts(), { all: 1728, old: 0 })
    for (const change of [
      'delete from windows',
      "update windows set meter = ''",
      'truncate windows',
    ])
      await assert.rejects(state.query(change), /windows is append-only/)
  },
)

test(
  'upkeep forgets changes that every open session has acted on, and a dead life need not hear any',
  { skip },
  async () => {
    await using state = await openLedgerState(server.of, 1)
    await addTestAccount(state, { id: 'acct_0', env: 'live', lowWater: 0n })
    const change = () => state.query("select change_credentials('tok_1', 'acct_0')")
    const ledger = createLedger(state)
    const left = async () => {
      await keepBooks({ state, log: createLogger('test', { level: 'error' }) })
      const { rows } = await state.query('select epoch::int from credential_changes order by epoch')
      return rows.map(({ epoch }) => epoch)
    }
    await change()
    await change()
    const { session, epoch } = await ledger.openSession('gw-1')
    await change()
    await change()
    assert.deepEqual([epoch, (await ledger.findSession(session))?.newestChange], [2n, 4n])
    assert.deepEqual(await left(), [1, 2, 3, 4], 'they are new')
    await state.query("update credential_changes set at = at - interval '2 hours'")
    assert.deepEqual(await left(), [3, 4])
    const input = { session, number: 1n, meter: 'm1', records: [], debits: [], wants: [] }
    assert.equal((await ledger.tick({ ...input, epoch })).changes.length, 2)
    await ledger.tick({ ...input, number: 2n, epoch: 4n })
    assert.deepEqual(await left(), [4])
    await ledger.closeSession(session)
    assert.deepEqual(await left(), [4])
    assert.equal((await ledger.openSession('gw-1')).epoch, 4n)
  },
)

test(
  'reconcile() reads past days of the free tier once a day, and halts for none that changed rightly',
  { skip },
  async () => {
    await using state = await openLedgerState(server.of, 1)
    const on = (day: number, time = '12:00:00') =>
      state.query(`set ergon.now = '2026-11-${day}T${time}Z'`)
    const found = async () => {
      const { rows } = await state.query<{ faults: { invariant: string }[] }>(
        'select reconcile() as faults',
      )
      return rows[0]?.faults.map(({ invariant }) => invariant)
    }
    const set = (what: string, which: string) =>
      state.query(`update wallets set ${what} where id = '${which}'`)
    await addTestAccount(state, { id: 'acct_0', env: 'test', lowWater: 0n })
    const ledger = createLedger(state)
    const { session } = await ledger.openSession('gw-1')
    const tick = async (number: bigint) => {
      const wants = [{ wallet: 'free:acct_0', amount: 1_000_000n }]
      await ledger.tick({ session, number, epoch: 0n, meter: 'm1', records: [], debits: [], wants })
    }
    for (const day of [18, 21]) {
      await on(day)
      await tick(BigInt(day))
    }
    const past = 'free:acct_0:2026-11-18'
    assert.deepEqual(await found(), [])
    // A process that was away posts what it spent of a day that is long over.
    await set('posted = posted - 5, reserved = reserved - 5', past)
    await state.query(`update leases set amount = amount - 5 where wallet = '${past}'`)
    await set('posted = posted + 5', 'operator:free-tier')
    assert.deepEqual(await found(), [])
    await set('posted = posted - 1', 'operator:free-tier')
    assert.deepEqual(await found(), ['units_sum_to_zero'])
    await set('posted = posted + 1', 'operator:free-tier')
    assert.deepEqual(await found(), [])
    // Found at once where a lease or today tells of it, and else at the next day's look.
    await set('reserved = reserved + 1', past)
    assert.deepEqual(await found(), ['reserved_is_leased'])
    await set('reserved = reserved - 1', past)
    await set('reserved = reserved + 1', 'free:acct_0:2026-11-21')
    assert.deepEqual(await found(), ['reserved_is_leased'])
    await set('reserved = reserved - 1', 'free:acct_0:2026-11-21')
    assert.deepEqual(await found(), [])
    await set('posted = posted + 1', past)
    assert.deepEqual(await found(), [])
    await on(22, '11:59:00')
    assert.deepEqual(await found(), [])
    await on(22, '12:01:00')
    assert.deepEqual(await found(), ['units_sum_to_zero'])
    await set('posted = posted - 1', past)
    assert.deepEqual(await found(), [])
  },
)

test(
  'auditCharges() sums charges soon after they are posted, and goes on after an error of the state',
  { skip },
  async () => {
    await using state = await openFunded(4)
    await hammer(state, 'gw-1', 4)
    const ending = new AbortController()
    const asked: string[] = []
    let isFirst = true
    const log = createLogger('test', { write: () => undefined })
    await auditCharges(
      {
        state: {
          async query(text, values) {
            asked.push(text)
            if (isFirst) {
              isFirst = false
              throw new Error('away')
            }
            const answer = await state.query<never>(text, values)
            ending.abort()
            return answer
          },
        },
        log,
      },
      ending.signal,
    )
    assert.equal(asked.length, 2)
    const { rows } = await state.query(
      `select audited = size and size > 0 as is_whole from books, log_head`,
    )
    assert.deepEqual(rows, [{ is_whole: true }])
    assert.deepEqual(await keepBooks({ state, log }), [])
  },
)
