// The rows of backups: which copies and which log the retention keeps, which databases get a copy of the day, and which
// log the operator hears of. On a state without servers, by its clock.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { addTestAccount, openLedgerState } from '#ledger/test-state.fixture.ts'
import { openTestUrl, whyNoState } from '#postgres/testing-url.ts'
import type { State } from '#state/connect.ts'
import { sweepRestored } from './sweep-restored.ts'

const skip = whyNoState()
const ACCOUNT = 'acct_a'
const DAY_MS = 86_400_000
const KEPT_MS = 7 * DAY_MS
const LATE_MS = 300_000
const MINUTE_MS = 60_000
const FIRST_MS = Date.parse('2026-03-01T00:00:00Z')
const MB = 1_048_576
const BLOB_BYTES = 100

let url: Awaited<ReturnType<typeof openTestUrl>>
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

const at = (day: number) =>
  value("set_config('ergon.now', $1, false)", [new Date(FIRST_MS + day * DAY_MS).toISOString()])

const newBlob = () =>
  JSON.stringify({ id: crypto.randomUUID(), location: 'fs', size: BLOB_BYTES, checksum: 'x' })

/** A database on the first day. */
async function newDatabase(name: string): Promise<string> {
  await at(0)
  const id = String(await value("add_database($1, $2, 'local', 99, 1000000)", [ACCOUNT, name]))
  for (const reached of ['deploying', 'deployed'])
    await value('move_resource($1, $2)', [id, reached])
  return id
}

/** A copy of the files, from one MB of the log to another. */
async function copy(
  database: string,
  [begin, end]: readonly [number, number],
  kind: 'nightly' | 'manual' = 'nightly',
): Promise<string> {
  const id = String(await value('want_backup($1, $2)', [database, kind]))
  await value('keep_part($1, 0, $2, 1, $3)', [id, newBlob(), '{}'])
  await state.query(
    `update database_backups set status = 'done', ended_at = ledger_now(),
       begin_lsn = '0/0'::pg_lsn + $2::bigint, end_lsn = '0/0'::pg_lsn + $3::bigint where id = $1`,
    [id, begin * MB, end * MB],
  )
  return id
}

/** A piece of the log. */
const log = (database: string, begin: number, end: number) =>
  value("keep_wal($1, '0/0'::pg_lsn + $2::bigint, '0/0'::pg_lsn + $3::bigint, 1, $4, 1, $5)", [
    database,
    Math.round(begin * MB),
    Math.round(end * MB),
    newBlob(),
    '{}',
  ])

const copies = async (database: string) =>
  (await value('array(select id from database_backups where database = $1 order by created_at)', [
    database,
  ])) as string[]

/** The first MB of each piece of the log. */
const logs = (database: string) =>
  value(
    `array(select ((begin_lsn - '0/0') / ${MB})::int from database_wal where database = $1 order by begin_lsn)`,
    [database],
  )

const bytes = async (database: string) =>
  Number(await value('(select backup_bytes from databases where id = $1)', [database]))

const garbage = async () => Number(await value('(select count(*) from blob_garbage)'))
const expire = () => value('expire_backups($1)', [KEPT_MS])

/** A copy each day, at a tenth of the day's 10 MB of log. */
async function days(database: string, count: number): Promise<string[]> {
  const made: string[] = []
  for (let day = 0; day < count; day++) {
    await at(day)
    made.push(await copy(database, [day * 10 + 1, day * 10 + 2]))
    await log(database, day * 10, day * 10 + 10)
  }
  return made
}

test(
  'expire_backups() keeps the newest copy from before the window, and the log since',
  { skip },
  async () => {
    const id = await newDatabase('window')
    const made = await days(id, 11)
    // The window begins at noon of day 3.
    await at(10.5)
    await expire()
    assert.deepEqual(await copies(id), made.slice(3))
    assert.deepEqual(await logs(id), [30, 40, 50, 60, 70, 80, 90, 100])
    assert.equal(await bytes(id), 16 * BLOB_BYTES)
    const freed = await garbage()
    assert.equal(freed, 6)
    await expire()
    assert.equal(await garbage(), freed)
    // Nothing is written any more: the last copy stays.
    await at(100)
    await expire()
    assert.deepEqual(await copies(id), made.slice(10))
    assert.deepEqual(await logs(id), [100])
  },
)

test(
  'expire_backups() keeps a copy by hand with the log that makes it consistent',
  { skip },
  async () => {
    const id = await newDatabase('by-hand')
    const byHand = await copy(id, [5, 12], 'manual')
    await at(0.1)
    const made = await days(id, 11)
    await at(10.5)
    await expire()
    assert.deepEqual((await copies(id)).toSorted(), [byHand, ...made.slice(3)].toSorted())
    assert.deepEqual(await logs(id), [0, 10, 30, 40, 50, 60, 70, 80, 90, 100])
    await value('drop_backup($1)', [byHand])
    await expire()
    assert.deepEqual(await logs(id), [30, 40, 50, 60, 70, 80, 90, 100])
  },
)

test(
  'a restore that is accepted keeps the copies and the log of its source',
  { skip },
  async () => {
    const [id, restored] = [await newDatabase('offered'), await newDatabase('restored')]
    const [first, ...later] = await days(id, 11)
    const until = '2026-03-01T12:00:00Z'
    await value('want_restore($1, $2, null, $3)', [restored, id, until])
    await at(10.5)
    await expire()
    assert.deepEqual(await copies(id), [first, ...later])
    assert.equal(((await logs(id)) as number[])[0], 0)
    await state.query("update database_restores set status = 'unpacked' where database = $1", [
      restored,
    ])
    await expire()
    assert.deepEqual(await copies(id), later.slice(2))
  },
)

test('expire_backups() removes the pieces of a backup that failed at once', { skip }, async () => {
  const id = await newDatabase('cut-off')
  await copy(id, [1, 2])
  const running = String(await value("want_backup($1, 'manual')", [id]))
  await value('keep_part($1, 0, $2, 1, $3)', [running, newBlob(), '{}'])
  await value('delete_database($1)', [id])
  await expire()
  assert.equal(await bytes(id), BLOB_BYTES)
})

test('expire_backups() removes failed backups by hand after the window', { skip }, async () => {
  const id = await newDatabase('by-hand-failing')
  await at(0)
  for (let nth = 0; nth < 3; nth++) {
    const failed = await value("want_backup($1, 'manual')", [id])
    await state.query("update database_backups set status = 'failed' where id = $1", [failed])
  }
  await at(8)
  await expire()
  assert.deepEqual(await copies(id), [])
})

test('expire_backups() forgets failed copies of the day after the window', { skip }, async () => {
  const id = await newDatabase('failing')
  const done = await copy(id, [1, 2])
  await at(0.1)
  const failed = String(await value("want_backup($1, 'nightly')", [id]))
  await state.query("update database_backups set status = 'failed' where id = $1", [failed])
  await at(6)
  await expire()
  assert.deepEqual(await copies(id), [done, failed])
  await at(8)
  await expire()
  assert.deepEqual(await copies(id), [done])
})

test(
  'expire_backups() removes everything of a deleted database after the window',
  { skip },
  async () => {
    const id = await newDatabase('deleted')
    await copy(id, [1, 2])
    await copy(id, [3, 4], 'manual')
    await log(id, 0, 10)
    await at(1)
    await value('delete_database($1)', [id])
    await value("move_resource($1, 'deleted')", [id])
    await at(7.9)
    await expire()
    assert.equal(await bytes(id), 3 * BLOB_BYTES)
    await at(8.1)
    await expire()
    assert.deepEqual([await copies(id), await logs(id), await bytes(id)], [[], [], 0])
  },
)

test(
  'expire_backups() removes the log of a database that was deleted without a copy, which nothing can restore',
  { skip },
  async () => {
    const id = await newDatabase('uncopied')
    await log(id, 0, 10)
    // It ends with the database.
    await value("want_backup($1, 'nightly')", [id])
    await value('delete_database($1)', [id])
    await expire()
    assert.equal(await bytes(id), BLOB_BYTES, 'its files are still there')
    await value("move_resource($1, 'deleted')", [id])
    await expire()
    assert.deepEqual([await copies(id), await logs(id), await bytes(id)], [[], [], 0])
  },
)

test('want_nightly_backups() wants one a day, of databases that wrote', { skip }, async () => {
  const id = await newDatabase('nightly')
  const wanted = async () => {
    await value('want_nightly_backups($1)', [DAY_MS])
    await value('want_nightly_backups($1)', [DAY_MS])
    const text = "delete from database_backups where status = 'wanted' returning database"
    const { rows } = await state.query<{ database: string }>(text)
    return rows.filter(({ database }) => database === id).length
  }
  assert.equal(await wanted(), 1)
  await copy(id, [1, 2])
  await log(id, 0, 2)
  await at(0.9)
  await log(id, 2, 10)
  assert.equal(await wanted(), 0, 'on the same day')
  await at(1.1)
  assert.equal(await wanted(), 1)
  await copy(id, [9, 10])
  await at(2.2)
  assert.equal(await wanted(), 0, 'it wrote nothing')
  await state.query(
    "update databases set is_archived = false, log_stored_at = ledger_now() - interval '2 hours' where id = $1",
    [id],
  )
  assert.equal(await wanted(), 1, 'it may have written')
  for (const desired of ['suspended', 'deleted']) {
    await state.query('update resources set desired = $2 where id = $1', [id, desired])
    assert.equal(await wanted(), 0, desired)
  }
})

test(
  'a copy from a time when the clock was ahead does not put the copy of the day off',
  { skip },
  async () => {
    const id = await newDatabase('ahead')
    const wanted = async () => {
      await value('want_nightly_backups($1)', [DAY_MS])
      const text = "delete from database_backups where status = 'wanted' returning database"
      const { rows } = await state.query<{ database: string }>(text)
      return rows.filter(({ database }) => database === id).length
    }
    await at(10)
    await copy(id, [1, 2])
    await at(1)
    await log(id, 0, 10)
    assert.equal(await wanted(), 1)
    await copy(id, [9, 10])
    await log(id, 10, 20)
    assert.equal(await wanted(), 0)
    await at(2.1)
    assert.equal(await wanted(), 1)
    await copy(id, [19, 20])
    await expire()
    assert.equal((await copies(id)).length, 3, 'each second of the retention has its copy')
  },
)

test('a backup of the day that failed is tried again within the hour', { skip }, async () => {
  const id = await newDatabase('tried-again')
  const wanted = async () => {
    await value('want_nightly_backups($1)', [DAY_MS])
    const { rows } = await state.query<{ id: string }>(
      "select id from database_backups where database = $1 and status = 'wanted'",
      [id],
    )
    return rows.length
  }
  assert.equal(await wanted(), 1)
  await state.query("update database_backups set status = 'failed' where database = $1", [id])
  await at(0.5 / 24)
  assert.equal(await wanted(), 0)
  await at(1.1 / 24)
  assert.equal(await wanted(), 1)
})

test('a copy after which only starts and stops wrote is enough', { skip }, async () => {
  const id = await newDatabase('idle')
  const wanted = async () => {
    await value('want_nightly_backups($1)', [DAY_MS])
    const { rowCount } = await state.query(
      "delete from database_backups where database = $1 and status = 'wanted'",
      [id],
    )
    return rowCount
  }
  await copy(id, [1, 1.5])
  // The rest of the segment, and a stop of the server.
  await log(id, 1, 2.01)
  await at(1.1)
  assert.equal(await wanted(), 0)
  await state.query(
    "update databases set is_archived = false, log_stored_at = ledger_now() - interval '2 hours' where id = $1",
    [id],
  )
  assert.equal(await wanted(), 1, 'nobody knows how much it wrote')
  await state.query('update databases set log_stored_at = ledger_now() where id = $1', [id])
  assert.equal(await wanted(), 0, 'it is awake, and its log is stored')
  await log(id, 2.01, 3.1)
  assert.equal(await wanted(), 1)
})

test('three nightly backups that fail in a row raise an alarm, once', { skip }, async () => {
  const id = await newDatabase('failing-again')
  const fail = async (isUnpaid = false) => {
    const backup = String(await value("want_backup($1, 'nightly')", [id]))
    await state.query(
      "update database_backups set status = 'failed', reason = 'the store is away', is_unpaid = $2 where id = $1",
      [backup, isUnpaid],
    )
    await value('tell_failed_backups()')
  }
  const told = () =>
    value(
      "array(select (detail ->> 'failed')::int from alarms where kind = 'database_backup_failing' and detail ->> 'database' = $1 order by id)",
      [id],
    )
  await fail()
  await at(0.01)
  await copy(id, [1, 2])
  for (let nth = 0; nth < 3; nth++) {
    await at((nth + 1) / 24)
    await fail(true)
    assert.deepEqual(await told(), [])
    await fail()
  }
  assert.deepEqual(await told(), [3])
  await state.query('update alarms set acknowledged_at = ledger_now()')
  await at(5 / 24)
  await fail()
  assert.deepEqual(await told(), [3])
})

test('a backup that waits already is the one that is asked for', { skip }, async () => {
  const id = await newDatabase('impatient')
  const ask = (kind: string) => value('want_backup($1, $2)', [id, kind])
  const first = await ask('manual')
  assert.equal(await ask('manual'), first)
  assert.notEqual(await ask('nightly'), first)
  await state.query("update database_backups set status = 'running' where database = $1", [id])
  assert.notEqual(await ask('manual'), first)
})

test('tell_late_logs() raises an alarm once, until the log is stored again', { skip }, async () => {
  const id = await newDatabase('late')
  const minutes = (count: number) => count / 1440
  const told = async () => {
    await value('tell_late_logs($1)', [LATE_MS])
    return await value(
      "array(select detail from alarms where kind = 'database_log_waiting' and detail ->> 'database' = $1 order by id)",
      [id],
    )
  }
  const storedTo = (minute: number) =>
    value('log_stored($1, $2, $3)', [id, FIRST_MS + minute * MINUTE_MS, LATE_MS])
  const alarm = { database: id, stored_to: '2026-03-01T00:00:00+00:00' }
  await storedTo(0)
  await at(1)
  assert.deepEqual(await told(), [], 'all is stored')
  await state.query('update databases set is_archived = false where id = $1', [id])
  await at(minutes(4))
  assert.deepEqual(await told(), [])
  await at(minutes(6))
  assert.deepEqual(await told(), [alarm])
  await state.query('update alarms set acknowledged_at = ledger_now()')
  await at(minutes(20))
  await storedTo(10)
  assert.deepEqual(await told(), [alarm], 'it still waits')
  await storedTo(20)
  assert.deepEqual(await told(), [alarm])
  await at(minutes(30))
  const second = { database: id, stored_to: '2026-03-01T00:20:00+00:00' }
  assert.deepEqual(await told(), [alarm, second])
  await storedTo(30)
  await value('tell_late_log($1, 5)', [id])
  await value('tell_late_log($1, 5)', [id])
  const third = { database: id, stored_to: '2026-03-01T00:30:00+00:00', waiting_bytes: 5 }
  assert.deepEqual(await told(), [alarm, second, third])
})

test('sweepRestored() leaves the files that wait for their servers', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-restored-'))
  try {
    const source = await newDatabase('source')
    const ids: Record<string, string> = {}
    for (const status of ['wanted', 'running', 'unpacked', 'done', 'failed']) {
      const id = (ids[status] = await newDatabase(status))
      await value('want_restore($1, $2, null, null)', [id, source])
      await state.query('update database_restores set status = $2 where database = $1', [
        id,
        status,
      ])
      for (const name of [id, `${id}~`]) mkdirSync(join(folder, name, 'data'), { recursive: true })
    }
    await sweepRestored(state, folder)
    assert.deepEqual(readdirSync(folder), [ids['unpacked']])
    await value('delete_database($1)', [ids['unpacked']])
    await sweepRestored(state, folder)
    assert.deepEqual(readdirSync(folder), [])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
