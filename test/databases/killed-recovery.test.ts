// A restored database whose first server is killed at the very end of its recovery: recovery.signal is gone, and the last
// checkpoint, whose process stands still (SIGSTOP), is not written. The other instants of the end, and restores to a time, are
// in src/databases/backups/killed-recovery.test.ts.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { backUpNightly, makeDatabase, until, withClient } from './driver.ts'
import { createRestoreDriver, idOf, processOf } from './restore-driver.ts'

product(PLAIN)

/** Log behind the copy, whose replay takes long enough to stop a process meanwhile. */
const ROWS = 200_000
const ergon = () => sharedErgon()
const { rowsOf } = createRestoreDriver(ergon)

test('a restore goes on although its server is killed before the last checkpoint of the recovery', async () => {
  const source = await makeDatabase(ergon(), 'ended')
  await backUpNightly(ergon(), idOf(source))
  await withClient(source, (client) =>
    client.query(`create table many as select n, md5(n::text) from generate_series(1, ${ROWS}) n;
      create table kept as select 1 as n`),
  )
  const made = await fetch(`${ergon().baseUrl}/v1/databases`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ergon().token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'ended-again', from: { database: 'ended' } }),
  })
  const { id } = (await made.json()) as { id: string }
  const cell = id.replace('_', '-')
  process.kill(await processOf(ergon(), cell, / checkpointer/), 'SIGSTOP')
  const data = join(ergon().dataFolder, 'databases', id, 'data')
  await until(
    'recovery.signal is gone',
    () =>
      !existsSync(join(data, 'recovery.signal')) &&
      existsSync(join(data, 'pg_wal', '00000002.history')),
  )
  await ergon().killCell(cell)
  const show = async () =>
    JSON.parse((await ergon().cli('db', 'show', 'ended-again', '--json')).stdout) as {
      readonly status: string
      readonly reason: string | null
    }
  await until('it is made', async () => {
    const { status, reason } = await show()
    assert.notEqual(status, 'failed', reason ?? '')
    return status === 'deployed'
  })
  assert.deepEqual(await rowsOf('ended-again'), [1])
  const alarms = await ergon().sql("select from alarms where kind = 'database_restore_failed'")
  assert.deepEqual(alarms, [])
})
