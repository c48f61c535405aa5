// A log of which a part was lost, and a source whose server does not start: the times that are stored can be restored, and
// all others are refused in words that name those.
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, makeDatabase, until, withClient } from './driver.ts'
import { asSuperuser, cellOf, createRestoreDriver, idOf } from './restore-driver.ts'

let ergon: Ergon
before(async () => {
  ergon = await startErgon({ env: { ERGON_DB_ARCHIVE_SECONDS: '1' } })
})
after(() => ergon?.stop())

const { done, refused, rowsOf, write, storedTo } = createRestoreDriver(() => ergon)

async function newDatabase(name: string): Promise<URL> {
  const url = await makeDatabase(ergon, name)
  await withClient(url, (client) => client.query('create table kept (n int)'))
  await backUpNightly(ergon, idOf(url))
  return url
}

/** The server forgets log that is not stored, as of more than it may keep for a store that is away. */
async function loseLog(url: URL): Promise<Date> {
  const backups = await ergon.pidOf('db-backups')
  process.kill(backups, 'SIGSTOP')
  try {
    const time = await write(url, 2)
    await asSuperuser(ergon, url, async (client) => {
      await client.query('select pg_terminate_backend(active_pid) from pg_replication_slots')
      const isFree = async () =>
        (await client.query('select from pg_replication_slots where active')).rowCount === 0
      await until('the slot is free', isFree)
      await client.query("select pg_drop_replication_slot('ergon')")
      await client.query('select pg_switch_wal()')
      await client.query('checkpoint')
    })
    return time
  } finally {
    process.kill(backups, 'SIGCONT')
  }
}

test('times before a lost part of the log and after the next backup are restored, and none between', async () => {
  const url = await newDatabase('notes')
  const early = await write(url, 1)
  await storedTo(url, early)
  const lost = await loseLog(url)
  await until('the loss is known, and a backup from behind it is done', async () => {
    const text = `select from database_log_gaps g join database_backups b using (database)
      where g.database = $1 and b.begin_lsn >= g.to_lsn and b.status = 'done'`
    return (await ergon.sql(text, [idOf(url)])).length > 0
  })
  await write(url, 3)
  await done('db', 'restore', 'notes', '--to', early.toISOString(), '--as', 'early')
  assert.deepEqual(await rowsOf('early'), [1])
  const words = await refused('db', 'restore', 'notes', '--to', lost.toISOString(), '--as', 'lost')
  assert.match(words, /it can be restored to times from 20\S+Z to 20\S+Z, or from 20\S+Z to 20/)
  await done('db', 'clone', 'notes', 'late')
  assert.deepEqual(await rowsOf('late'), [1, 2, 3])
  const times = /each second from 20\S+Z to 20\S+Z, and from 20\S+Z on/
  assert.match(await done('db', 'backup', 'list', 'notes'), times)
  assert.match(await done('db', 'show', 'notes'), times)
  const alarms = await ergon.sql("select from alarms where kind = 'database_log_lost'")
  assert.equal(alarms.length, 1)
})

test('db delete prints a command that restores all that is stored, where the log behind the last backup was lost', async () => {
  const url = await newDatabase('cut')
  await storedTo(url, await write(url, 1))
  // No copy from behind the loss comes before the deletion.
  await ergon.sql(
    `create function keep_away() returns trigger language plpgsql as 'begin return null; end'`,
  )
  await ergon.sql(
    'create trigger keep_away before insert on database_backups for each row execute function keep_away()',
  )
  try {
    await loseLog(url)
    await until('the loss is known', async () => {
      const text = 'select from database_log_gaps where database = $1'
      return (await ergon.sql(text, [idOf(url)])).length > 0
    })
    const { stderr } = await ergon.cli('db', 'delete', 'cut', '--force')
    const [, words = ''] = /without its last rows, .*: ergon (db restore .*)/.exec(stderr) ?? []
    await done(...words.split(' '))
    assert.deepEqual(await rowsOf('cut'), [1])
  } finally {
    await ergon.sql('drop trigger keep_away on database_backups')
    await ergon.sql('drop function keep_away')
  }
})

test('a backup by hand with which the times begin stays as a nightly one when it is deleted', async () => {
  const url = await makeDatabase(ergon, 'by-hand')
  await withClient(url, (client) => client.query('create table kept (n int)'))
  const backup = await backUpNightly(ergon, idOf(url))
  // As where its owner was faster than the service.
  await ergon.sql("update database_backups set kind = 'manual' where id = $1", [backup])
  const time = await write(url, 1)
  assert.match(
    await done('db', 'backup', 'delete', 'by-hand', backup),
    /begin with the backup bkp_\w+: it stays as a nightly one, and ends with the retention/,
  )
  assert.match(
    await done('db', 'backup', 'list', 'by-hand'),
    new RegExp(`^${backup} +nightly +done`, 'm'),
  )
  await done('db', 'restore', 'by-hand', '--to', time.toISOString(), '--as', 'by-hand-then')
  assert.deepEqual(await rowsOf('by-hand-then'), [1])
  const other = (await done('db', 'backup', 'create', 'by-hand')).split('\n')[0] ?? ''
  assert.match(await done('db', 'backup', 'delete', 'by-hand', other), /is deleted/)
})

test('a database whose server does not start is restored to the times that are stored', async () => {
  const url = await newDatabase('broken')
  const stored = await write(url, 1)
  await storedTo(url, stored)
  const control = join(ergon.dataFolder, 'databases', idOf(url), 'data/global/pg_control')
  renameSync(control, `${control}.away`)
  await ergon.killCell(cellOf(url))
  await until('it does not start', async () =>
    /"status":\s*"failed"/.test(await done('db', 'show', 'broken', '--json')),
  )
  await done('db', 'restore', 'broken', '--to', stored.toISOString(), '--as', 'saved')
  assert.deepEqual(await rowsOf('saved'), [1])
  const words = await refused('db', 'clone', 'broken', 'copy')
  const [, time = ''] =
    /can be restored to (20\S+Z) or before\. .* does not start/.exec(words) ?? []
  assert.ok(time >= stored.toISOString(), words)
  await done('db', 'restore', 'broken', '--to', time, '--as', 'saved-last')
  assert.deepEqual(await rowsOf('saved-last'), [1])
})
