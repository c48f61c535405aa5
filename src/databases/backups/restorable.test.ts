// The times that a database can be restored to, with lost parts of its log and with copies that are deleted by hand. On a
// state without servers, by its clock.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ErgonError } from '#base/errors.ts'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState, type TestUrl } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { findOrigin } from '#databases/find-origin.ts'
import { createDatabase } from '#databases/operations/database-create.ts'
import type { ActingCall } from '#identity/audit.ts'
import { setEnergyBudget } from '#resources/set-energy-budget.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const DAY_MS = 86_400_000
const KEPT_MS = 7 * DAY_MS
const FIRST_MS = Date.parse('2026-03-01T00:00:00Z')
const MB = 1_048_576
const SETTINGS = {
  isOn: true,
  passwordKey: '00'.repeat(32),
  region: 'local',
  host: 'localhost',
  socketFolder: '/nowhere',
  port: 5432,
  backupsKeptMs: KEPT_MS,
}

let url: TestUrl
let state: State
before(async () => {
  if (skip !== false) return
  url = await openTestUrl()
  // One session, which has the clock.
  state = await openLedgerState(url.of, 1)
  await addTestAccount(state, { id: ACCOUNT, env: 'test', lowWater: 0n })
})
after(async () => {
  await state?.[Symbol.asyncDispose]()
  await url?.[Symbol.asyncDispose]()
})

async function value(text: string, values: readonly unknown[] = []): Promise<unknown> {
  const { rows } = await state.query<{ value: unknown }>(`select ${text} as value`, values)
  return rows[0]?.value
}

const dayText = (day: number) => new Date(FIRST_MS + day * DAY_MS).toISOString()
const at = (day: number) => value("set_config('ergon.now', $1, false)", [dayText(day)])

async function newDatabase(name: string): Promise<string> {
  await at(0)
  return String(await value("add_database($1, $2, 'local', 99, 1000000)", [ACCOUNT, name]))
}

/** A copy of the files at a MB of the log. */
async function copy(database: string, mb: number, kind: 'nightly' | 'manual'): Promise<string> {
  const id = String(await value('want_backup($1, $2)', [database, kind]))
  await state.query(
    `update database_backups set status = 'done', ended_at = ledger_now(),
       begin_lsn = '0/0'::pg_lsn + $2::bigint, end_lsn = '0/0'::pg_lsn + $2::bigint where id = $1`,
    [id, mb * MB],
  )
  return id
}

/** The log of two MB is lost, after it was stored up to a day. */
async function lose(database: string, mb: number, day: number): Promise<void> {
  await state.query('update databases set log_stored_at = $2 where id = $1', [
    database,
    dayText(day),
  ])
  await value("note_log_gap($1, '0/0'::pg_lsn + $2::bigint, '0/0'::pg_lsn + $3::bigint)", [
    database,
    mb * MB,
    (mb + 2) * MB,
  ])
}

/** The days of each stretch that can be restored; the end of the last one is null. */
async function stretches(database: string): Promise<(number | null)[][]> {
  const { rows } = await state.query<{ from_at: Date; to_at: Date | null }>(
    'select from_at, to_at from restorable_times($1, $2) order by from_at',
    [database, KEPT_MS],
  )
  const day = (time: Date) => (time.getTime() - FIRST_MS) / DAY_MS
  return rows.map(({ from_at: from, to_at: to }) => [day(from), to && day(to)])
}

/** Why a time cannot be restored; undefined where it can. */
async function refusal(database: string, day?: number): Promise<string | undefined> {
  const from = { database, ...(day !== undefined && { time: dayText(day) }) }
  try {
    await findOrigin(state, { account: ACCOUNT, keptMs: KEPT_MS }, from)
    return undefined
  } catch (error) {
    assert.ok(error instanceof ErgonError)
    assert.equal(error.code, 'database_not_restorable')
    return error.message
  }
}

test(
  'lost parts of a log leave the times before them, and those from the next copy on',
  { skip },
  async () => {
    const id = await newDatabase('lost')
    assert.deepEqual(await stretches(id), [])
    await at(1)
    await copy(id, 10, 'nightly')
    assert.deepEqual(await stretches(id), [[1, null]])
    await lose(id, 20, 2)
    assert.deepEqual(await stretches(id), [[1, 2]])
    const [waiting] = await copiesOf(id, 'wanted')
    assert.equal(waiting, 'nightly', 'a copy from behind the loss is asked for')
    await at(3)
    await state.query("delete from database_backups where status = 'wanted'")
    const between = `${dayText(1)} to ${dayText(2)}`
    assert.equal(await refusal(id, 1.5), undefined)
    for (const day of [2.5, undefined])
      assert.match((await refusal(id, day)) ?? '', new RegExp(`to times from ${between}$`))
    await copy(id, 30, 'nightly')
    await at(4)
    await copy(id, 40, 'nightly')
    assert.deepEqual(await stretches(id), [
      [1, 2],
      [3, null],
    ])
    assert.equal(await refusal(id), undefined)
    assert.equal(await refusal(id, 3.5), undefined)
    assert.match(
      (await refusal(id, 2.5)) ?? '',
      new RegExp(`to times from ${between}, or from ${dayText(3)} to 20`),
    )
    // A loss before the first copy behind another one leaves no time.
    await lose(id, 50, 4.5)
    await lose(id, 60, 4.6)
    await at(5)
    await copy(id, 70, 'nightly')
    assert.deepEqual(await stretches(id), [
      [1, 2],
      [3, 4.5],
      [5, null],
    ])
    // The retention ends.
    await at(20)
    await state.query("delete from database_backups where status = 'wanted'")
    await value('expire_backups($1)', [KEPT_MS])
    await value('drop_old_wal($1, $2)', [id, KEPT_MS])
    assert.deepEqual(await stretches(id), [[5, null]])
    assert.equal(
      await value('(select count(*)::int from database_log_gaps where database = $1)', [id]),
      0,
    )
  },
)

const copiesOf = async (database: string, status: string): Promise<string[]> =>
  (await value(
    'array(select kind from database_backups where database = $1 and status = $2 order by id)',
    [database, status],
  )) as string[]

test(
  'a copy by hand with which the times begin is kept as a nightly one when it is deleted',
  { skip },
  async () => {
    const id = await newDatabase('by-hand')
    const remove = (backup: string) => value('delete_backup($1, $2)', [backup, KEPT_MS])
    await at(1)
    const first = await copy(id, 10, 'manual')
    await at(2)
    const second = await copy(id, 20, 'manual')
    await copy(id, 25, 'nightly')
    assert.equal(await remove(second), true)
    assert.equal(await remove(first), false)
    assert.deepEqual(await stretches(id), [[1, null]])
    assert.deepEqual(await copiesOf(id, 'done'), ['nightly', 'nightly'])
    // The first one behind a loss is as needed.
    await lose(id, 30, 3)
    await at(4)
    const behind = await copy(id, 40, 'manual')
    assert.equal(await remove(behind), false)
    assert.deepEqual(await stretches(id), [
      [1, 3],
      [4, null],
    ])
    const failed = String(await value("want_backup($1, 'manual')", [id]))
    assert.equal(await remove(failed), true)
  },
)

test(
  'the copy from behind a loss is wanted until a copy is done, each hour where the copy fails',
  { skip },
  async () => {
    const id = await newDatabase('behind-a-loss')
    for (const reached of ['deploying', 'deployed'])
      await value('move_resource($1, $2)', [id, reached])
    const waiting = async () => {
      await value('want_nightly_backups($1)', [DAY_MS])
      return (await copiesOf(id, 'wanted')).length
    }
    const end = (status: string) =>
      state.query(
        "update database_backups set status = $2 where database = $1 and status = 'wanted'",
        [id, status],
      )
    await at(1)
    await copy(id, 10, 'nightly')
    await lose(id, 20, 1.01)
    assert.equal(await waiting(), 1)
    await end('failed')
    await at(1 + 0.5 / 24)
    assert.equal(await waiting(), 0)
    await at(1 + 1.1 / 24)
    assert.equal(await waiting(), 1, 'an hour after the failure, and within the day of the copy')
    // Its owner deletes the copy that waits.
    await state.query("delete from database_backups where database = $1 and status = 'wanted'", [
      id,
    ])
    assert.equal(await waiting(), 1)
    await end('failed')
    await at(1.3)
    await copy(id, 30, 'manual')
    assert.equal(await waiting(), 0, 'each time from now on can be restored')
  },
)

test(
  'a database from backups has the budget of the other one, unless the request has another or null',
  { skip },
  async () => {
    const id = await newDatabase('limited')
    await setEnergyBudget(state, { id, account: ACCOUNT, budget: '5 kJ/day', operations: [] })
    await at(1)
    await copy(id, 10, 'nightly')
    const call = { caller: { account: ACCOUNT }, spend: { requestId: 'req_1' } } as ActingCall
    const budgetOf = async (name: string, request: object) => {
      const made = { name, region: 'auto', from: { database: 'limited' }, ...request }
      return (await createDatabase(state, call, { request: made, settings: SETTINGS })).nj_per_day
    }
    assert.equal(await budgetOf('copied', {}), '5000000000000')
    assert.equal(await budgetOf('raised', { energy_budget: '7 kJ/day' }), '7000000000000')
    assert.equal(await budgetOf('free', { energy_budget: null }), null)
  },
)

test(
  'the log before the retention is found without a look at the copies for each piece',
  { skip },
  async () => {
    const id = await newDatabase('written')
    await at(1)
    await copy(id, 10, 'nightly')
    await state.query(
      `insert into database_wal (database, begin_lsn, end_lsn, timeline, blob, size, key, stored_at)
     select $1, '0/0'::pg_lsn + n * 1048576, '0/0'::pg_lsn + (n + 1) * 1048576, 1, gen_random_uuid(), 1, '{}', now()
     from generate_series(21, 220) n`,
      [id],
    )
    await state.query("set track_functions = 'all'")
    const calls = () =>
      value(
        "(select coalesce(sum(calls), 0)::int from pg_stat_xact_user_functions where funcname = 'first_backup')",
      )
    await state.query('begin')
    await value('drop_old_wal($1, $2)', [id, KEPT_MS])
    assert.ok(Number(await calls()) <= 2, String(await calls()))
    await state.query('commit')
  },
)

test(
  'want_own_restore() wants all that is stored of a database with a copy, without the log behind a lost part',
  { skip },
  async () => {
    const id = await newDatabase('lost-files')
    const want = () => value('want_own_restore($1)', [id])
    assert.equal(await want(), false, 'it has no copy')
    await copy(id, 1, 'nightly')
    for (const mb of [1, 9])
      await value(
        "keep_wal($1, '0/0'::pg_lsn + $2::bigint, '0/0'::pg_lsn + $3::bigint, 1, $4, 1, $5)",
        [
          id,
          mb * MB,
          (mb + 1) * MB,
          JSON.stringify({ id: crypto.randomUUID(), location: 'fs', size: 1, checksum: 'x' }),
          '{}',
        ],
      )
    await lose(id, 3, 2)
    assert.equal(await want(), true)
    assert.deepEqual(
      await value('array(select begin_lsn::text from database_wal where database = $1)', [id]),
      ['0/100000'],
    )
    const [wanted] = (
      await state.query(
        'select source, backup, until, status from database_restores where database = $1',
        [id],
      )
    ).rows
    assert.deepEqual(wanted, { source: id, backup: null, until: null, status: 'wanted' })
    assert.equal(String(await value('stored_only_to($1)', [id])), String(new Date(dayText(2))))
    await state.query("update database_restores set status = 'unpacked' where database = $1", [id])
    assert.equal(await want(), true, 'it is under way')
    assert.equal(
      await value('(select status from database_restores where database = $1)', [id]),
      'unpacked',
    )
    const told = () =>
      value("array(select data ->> 'since' from events where data ->> 'database_id' = $1)", [id])
    assert.deepEqual(await told(), [])
    await value('end_restore($1)', [id])
    assert.deepEqual(await told(), [dayText(2)])
  },
)
