// The log of a server that was killed with its node: it is stored though nobody connects again, once, and the database sleeps.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startErgon } from '../start-ergon.ts'
import { backUpNightly, connectTo, makeDatabase, until } from './driver.ts'
import { idOf } from './restore-driver.ts'

test('the log of a database that sleeps is stored after its server was killed', async () => {
  await using ergon = await startErgon()
  const url = await makeDatabase(ergon, 'killed')
  const id = idOf(url)
  await backUpNightly(ergon, id)
  const client = await connectTo(url)
  await client.query('create table kept as select 1 as n')
  await ergon.kill()
  await client.end().catch(() => undefined)
  await ergon.resume()
  await until(
    'the log is stored',
    async () => {
      const rows = await ergon.sql('select from databases where id = $1 and is_archived', [id])
      return rows.length > 0
    },
    120_000,
  )
  const [last] = await ergon.sql(
    'select woken_by, slept_by from resource_intervals where resource = $1 order by id desc limit 1',
    [id],
  )
  assert.deepEqual(last, { woken_by: 'backup', slept_by: 'idle' })
  assert.deepEqual(await ergon.sql("select from alarms where kind = 'database_log_waiting'"), [])
})
