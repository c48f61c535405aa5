// The retention keeps copies, the log behind them, and for a while those of a deleted database. The tests set the clock.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoState } from '#postgres/testing-url.ts'
import { backupRows, BLOB_BYTES } from './backup-rows.fixture.ts'

const skip = whyNoState()
const {
  state,
  value,
  at,
  newDatabase,
  newBlob,
  copy,
  log,
  copies,
  logs,
  bytes,
  garbage,
  expire,
  days,
} = backupRows()

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
