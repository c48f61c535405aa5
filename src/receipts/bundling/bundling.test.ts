// Which charges are bundled and when, and that a fault or a kill at any step leaves every charge where it was.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sleep, systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { createDamageWatch } from '#ledger/bundles/damage.ts'
import { createLedger } from '#ledger/ledger.ts'
import { openLedgerState } from '#ledger/test-state.fixture.ts'
import { sumUsage } from '#ledger/usage.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { booksFigures } from '#status/metrics/books-figures.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { receiptsTasks } from '#receipts/tasks.ts'
import { bundleOldest, notBundled } from './bundle-charges.ts'
import { postOld, type OldCharge, type PostedCharge } from './bundled-ledger.fixture.ts'
import { proveNext } from './prove-bundles.ts'

const skip = whyNoState()
let server: TestUrl
before(async () => {
  if (skip === false) server = await openTestUrl()
})
after(async () => await server?.[Symbol.asyncDispose]())

const ALL = { before: new Date(), until: null }
const START_MS = Date.UTC(2026, 0, 1)
const log = createLogger('test', { write: () => undefined })

const charges = (count: number, account = 'acct_a', process = 'gw-1'): OldCharge[] =>
  Array.from({ length: count }, (_, nth) => ({
    account,
    token: `tok_${account}`,
    operation: 'chat.create',
    process,
    toMs: START_MS + nth * 1000,
    energies: [1_000_000 + nth],
    method: 'model',
    free: false,
  }))

type Opened = AsyncDisposable & { readonly state: State; readonly posted: PostedCharge[] }

async function openOld(list: readonly OldCharge[]): Promise<Opened> {
  const state = await openLedgerState(server.of, 4)
  return {
    state,
    posted: await postOld(state, list),
    [Symbol.asyncDispose]: () => state[Symbol.asyncDispose](),
  }
}

/** The number of charges that are rows and that are bundled. */
async function placesOf(state: State): Promise<[rows: number, bundled: number]> {
  const { rows } = await state.query<{ rows: string; bundled: string }>(
    `select (select count(*) from charges) as rows,
       (select coalesce(sum(last_seq - first_seq + 1), 0) from charge_bundles) as bundled`,
  )
  return [Number(rows[0]?.rows), Number(rows[0]?.bundled)]
}

/** Changes what nothing may change. */
async function plant(state: State, table: string, sql: string): Promise<void> {
  await state.query(`alter table ${table} disable trigger user`)
  await state.query(sql)
  await state.query(`alter table ${table} enable trigger user`)
}

const WRONG_TILE = `update receipt_tiles set hashes = overlay(hashes placing '\\x0000' from 100)
  where level = 0 and index = 0`

const alarmsOf = async (state: State) =>
  (
    await state.query<{ kind: string; detail: { why: string } }>(
      'select kind, detail from alarms order by id',
    )
  ).rows

/** Plants a fault, and takes it back after `check`. */
async function withFault(state: State, table: string, sql: string, check: () => Promise<void>) {
  await state.query(`create table kept as table ${table}`)
  await plant(state, table, sql)
  await check()
  await plant(
    state,
    table,
    `delete from ${table}; insert into ${table} select * from kept; drop table kept`,
  )
}

test(
  'a charge that is not the one in the log, or not its row, is not bundled',
  { skip },
  async () => {
    const faults: [why: string, table: string, sql: string][] = [
      ['has another hash', 'charges', "update charges set hash = '' where account_seq = 77"],
      ['is not leaf', 'receipt_tiles', WRONG_TILE],
      [
        'energy_nj of charge 130',
        'charges',
        'update charges set energy_nj = energy_nj + 1 where account_seq = 130',
      ],
      ['token of charge 5', 'charges', 'update charges set token = null where account_seq = 5'],
      ['have a gap', 'charges', 'delete from charges where account_seq = 1'],
    ]
    await using ledger = await openOld(charges(200))
    const { state } = ledger
    for (const [why, table, sql] of faults)
      await withFault(state, table, sql, async () => {
        const before = await placesOf(state)
        await assert.rejects(bundleOldest(state, 'acct_a', ALL), new RegExp(why))
        assert.deepEqual(await placesOf(state), before)
      })
    assert.equal(await bundleOldest(state, 'acct_a', ALL), 200)
  },
)

test(
  'a killed connection between the proof and the end leaves the rows, and the next run bundles them',
  { skip },
  async () => {
    await using ledger = await openOld(charges(200))
    const { state } = ledger
    await state.session(async (other) => {
      await other.query('begin')
      // The rows go after this table is written.
      await other.query('lock table bundled_tokens in share mode')
      const bundling = assert.rejects(bundleOldest(state, 'acct_a', ALL))
      const waiting = `select pid from pg_stat_activity where query like '%move_into_bundle%' and wait_event_type = 'Lock'
      and pid <> pg_backend_pid()`
      const signal = AbortSignal.timeout(30_000)
      while ((await state.query(waiting)).rowCount === 0) await sleep(10, signal)
      await state.query(`select pg_terminate_backend(pid) from (${waiting}) w`)
      await bundling
      await other.query('rollback')
    })
    assert.deepEqual(await placesOf(state), [200, 0])
    assert.equal(await bundleOldest(state, 'acct_a', ALL), 200)
    assert.deepEqual(await placesOf(state), [0, 200])
    assert.deepEqual((await state.query('select * from ledger_faults()')).rows, [])
  },
)

test('only charges in a bundle can be deleted', { skip }, async () => {
  await using ledger = await openOld(charges(300))
  const { state } = ledger
  await assert.rejects(state.query('delete from charges where account_seq = 1'), /append-only/)
  assert.equal(await bundleOldest(state, 'acct_a', { ...ALL, until: '150' }), 150)
  await assert.rejects(state.query('delete from charges'), /append-only/)
  await assert.rejects(state.query('delete from charge_bundles'), /append-only/)
  assert.deepEqual(await placesOf(state), [150, 150])
})

test('young, unsealed, unaudited and unclosed charges stay rows', { skip }, async () => {
  await using ledger = await openOld(charges(1000))
  const { state } = ledger
  const bundle = (before: Date) => bundleOldest(state, 'acct_a', { before, until: null })
  assert.equal(await bundle(new Date(START_MS + 100_000)), 0, 'too few are old')
  assert.equal(await bundle(new Date(START_MS + 150_000)), 150)
  await state.query('update books set audited = 400')
  assert.equal(await bundle(new Date()), 250)
  await state.query('update books set audited = 1000')
  await state.query('update sessions set closed_at = null, last_seq = 4600')
  assert.equal(await bundle(new Date()), 200, 'an open session may send its last 4000 again')
  await state.query('update sessions set closed_at = now()')
  assert.equal(await bundle(new Date()), 0)
  await state.query("update sessions set closed_at = now() - interval '25 hours'")
  await state.query(
    'update receipt_tiles set hashes = substr(hashes, 1, 32 * 100) where level = 0 and index = 3',
  )
  assert.equal(await bundle(new Date()), 268, 'leaf 868 is not sealed')
})

test('a bundled charge is not posted again by a journal that comes back', { skip }, async () => {
  await using ledger = await openOld(charges(200))
  const { state, posted } = ledger
  await bundleOldest(state, 'acct_a', ALL)
  const books = createLedger(state)
  const records = posted.map(({ bytes }, nth) => ({
    seq: BigInt(nth + 1),
    kind: 'charge' as const,
    bytes,
  }))
  const tick = (session: string) =>
    books.tick({ session, number: 1n, epoch: 0n, meter: 'm1', records, debits: [], wants: [] })
  await assert.rejects(tick('gw-1.1'), { code: 'EG001' })
  await state.query('update sessions set closed_at = null, last_seq = 200')
  await assert.rejects(tick('gw-1.1'), { code: 'EG002' })
  assert.equal((await books.findSession('gw-1.1'))?.lastSeq, 200n, 'a replay begins after it')
  assert.deepEqual(await placesOf(state), [0, 200])
})

test('the round through all bundles finds each damage once', { skip }, async () => {
  const change = (what: string) =>
    `update charge_bundles set ${what} where account = 'acct_a' and first_seq = 1`
  const damages: [why: string, table: string, sql: string][] = [
    [
      'The checksum of a bundle',
      'charge_bundles',
      change('body = set_bit(body, 999, 1 - get_bit(body, 999))'),
    ],
    ['energy_nj is', 'charge_bundles', change('energy_nj = energy_nj + 1')],
    ['sums is', 'charge_bundles', change(`sums = jsonb_set(sums, '{0,10}', '"1"')`)],
    ['last_seq is', 'charge_bundles', change('last_seq = 149')],
    [
      'first_leaf is',
      'charge_bundles',
      change("body = (select body from charge_bundles where account = 'acct_b')"),
    ],
    ['is not leaf', 'receipt_tiles', WRONG_TILE],
    [
      '300 charges in 2 bundles, 150 in 1 found',
      'charge_bundles',
      'delete from charge_bundles where first_seq = 151',
    ],
  ]
  await using ledger = await openOld([...charges(300), ...charges(150, 'acct_b', 'gw-2')])
  const { state } = ledger
  for (const until of ['150', '300']) await bundleOldest(state, 'acct_a', { ...ALL, until })
  await bundleOldest(state, 'acct_b', ALL)
  const round = async () => {
    while (await proveNext(state)) continue
    return await alarmsOf(state)
  }
  assert.deepEqual(await round(), [])
  for (const [why, table, sql] of damages)
    await withFault(state, table, sql, async () => {
      const alarms = await round()
      const isTold = alarms.some(
        ({ kind, detail }) => kind === 'bundle_damaged' && detail.why.includes(why),
      )
      assert.ok(isTold, `${why}: ${JSON.stringify(alarms)}`)
      assert.equal((await round()).length, alarms.length)
      await state.query('delete from alarms')
    })
  assert.deepEqual(await round(), [])
})

test(
  'bundles from before bands were kept are proven, and a sum with them has no band',
  { skip },
  async () => {
    await using ledger = await openOld(charges(300))
    const { state } = ledger
    await bundleOldest(state, 'acct_a', ALL)
    // Half an hour, so that the sums of the bundle are read in place of those of the hour.
    const span = { account: 'acct_a', from: new Date(START_MS), to: new Date(START_MS + 1_800_000) }
    const weight = async () =>
      (await sumUsage(state, span, "''", { offset: 0, limit: 1, bands: true }))[0]?.weight
    const energy = charges(300).reduce((sum, { energies }) => sum + (energies[0] ?? 0), 0)
    assert.equal(await weight(), String(energy * 40))
    await plant(
      state,
      'charge_bundles',
      'update charge_bundles set sums = (select jsonb_agg(s - 10) from jsonb_array_elements(sums) s)',
    )
    while (await proveNext(state)) continue
    assert.deepEqual(await alarmsOf(state), [])
    assert.equal(await weight(), null)
  },
)

test('a damaged bundle is a code and an alarm, and hides nothing of others', { skip }, async () => {
  await using ledger = await openOld([...charges(300), ...charges(300, 'acct_b', 'gw-2')])
  const { state, posted } = ledger
  for (const until of ['150', '300']) await bundleOldest(state, 'acct_a', { ...ALL, until })
  await bundleOldest(state, 'acct_b', ALL)
  const damage = (account: string) =>
    plant(
      state,
      'charge_bundles',
      `update charge_bundles set body = set_bit(body, 999, 1 - get_bit(body, 999))
       where account = '${account}' and first_seq = 1`,
    )
  await damage('acct_a')
  const idOf = (nth: number) => posted[nth]?.charge.id ?? ''
  const store = createSqlReceiptStore(state)
  let met: unknown
  await assert.rejects(store.charge(idOf(7), ['acct_a']), (error: { code: string }) => {
    met = error
    return error.code === 'charges_damaged'
  })
  assert.equal((await store.charge(idOf(170), ['nobody', 'acct_a']))?.account, 'acct_a')
  const usage = async (account: string, fromS: number) => {
    const [from, to] = [fromS, 3600].map((s) => new Date(START_MS + s * 1000))
    const span = { account, from: from ?? new Date(), to: to ?? new Date() }
    return (await sumUsage(state, span, 'operation', { offset: 0, limit: 10 }))[0]?.requests
  }
  assert.equal(await usage('acct_a', 0), '300', 'its sums are kept')
  await assert.rejects(usage('acct_a', 10), { code: 'charges_damaged' })
  assert.equal(await usage('acct_a', 150), '150')
  assert.equal(await usage('acct_b', 10), '290')

  const watch = createDamageWatch({ state, log })
  for (let times = 0; times < 2; times++) watch.see(met)
  watch.see(new Error('another failure'))
  const signal = AbortSignal.timeout(30_000)
  while ((await alarmsOf(state)).length === 0) await sleep(10, signal)
  while (await proveNext(state)) continue
  const kinds = (await alarmsOf(state)).map(({ kind, detail }) => [kind, detail.why])
  assert.deepEqual(kinds, [['bundle_damaged', 'The checksum of a bundle is another']])

  // A search without an account meets the newest bundle of that time first.
  await damage('acct_b')
  const books = createLedger(state)
  assert.deepEqual(await books.posted([idOf(170)]), new Set([idOf(170)]))
  await assert.rejects(books.posted([idOf(307)]), { code: 'charges_damaged' })
})

test(
  'the task bundles what is old and may be bundled, and tells of what does not fit',
  { skip },
  async () => {
    const list = [
      ...charges(300),
      ...charges(127, 'acct_small', 'gw-2'),
      ...charges(200, 'acct_bad', 'gw-3'),
      ...charges(200, 'acct_read', 'gw-4'),
      // The first that is bundled, with a fault that is no notBundled().
      ...charges(400, 'acct_gap', 'gw-5'),
    ]
    await using ledger = await openOld(list)
    const { state } = ledger
    await plant(
      state,
      'charges',
      "update charges set status = 201 where account = 'acct_bad' and account_seq = 9",
    )
    await plant(
      state,
      'charges',
      "delete from charges where account = 'acct_gap' and account_seq = 1",
    )
    const unread = "select 'acct_read'::text as account, 150 as next"
    const core = { state, log, clock: systemClock } as never
    const help = { signal: AbortSignal.timeout(60_000), log, progress: () => undefined }
    const run = async (bundleDays: number) => {
      const { tasks } = await receiptsTasks([unread]).open(core, { bundleDays })
      await tasks?.['receipts.bundle']?.run(undefined, help)
      await tasks?.['receipts.prove-bundles']?.run(undefined, help)
    }
    await run(0)
    assert.deepEqual(await placesOf(state), [1226, 0])
    await run(31)
    const { rows } = await state.query(
      'select account, charges from bundled_accounts order by account',
    )
    assert.deepEqual(rows, [
      { account: 'acct_a', charges: '300' },
      { account: 'acct_read', charges: '149' },
    ])
    const { bundled } = await booksFigures(state)
    assert.equal(bundled.charges, 449)
    assert.ok(bundled.bytes > 0)
    const alarms = await alarmsOf(state)
    assert.deepEqual(
      alarms.map(({ kind, detail }) => [kind, detail.why]),
      [
        ['charges_not_bundled', 'rows and bundles of an account have a gap'],
        [
          'charges_not_bundled',
          notBundled('acct_bad', 'status of charge 9 differs from its bytes').message,
        ],
      ],
    )
    await run(31)
    assert.equal((await alarmsOf(state)).length, 2)
  },
)
