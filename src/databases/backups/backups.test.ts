// Which databases get a copy of the day, and which copies and logs the operator hears of. On a state without servers, by its
// clock.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { backupRows, DAY_MS, FIRST_MS } from './backup-rows.fixture.ts'
import { sweepRestored } from './sweep-restored.ts'

const skip = whyNoState()
const LATE_MS = 300_000
const MINUTE_MS = 60_000
const { state, value, at, newDatabase, copy, log, copies, expire } = backupRows()

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
