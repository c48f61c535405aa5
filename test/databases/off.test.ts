// A node that runs no databases any more: deletions end, with and without the last part of the log, and so do their charges.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, connectTo, makeDatabase, until, withClient } from './driver.ts'
import { idOf } from './restore-driver.ts'

let ergon: Ergon
before(async () => {
  ergon = await startErgon({ env: { ERGON_DB_ARCHIVE_SECONDS: '3600' } })
})
after(() => ergon?.stop())

async function newDatabase(name: string): Promise<URL> {
  const url = await makeDatabase(ergon, name)
  await withClient(url, (client) => client.query('create table kept as select 1 as n'))
  await backUpNightly(ergon, idOf(url))
  return url
}

const isGone = async (url: URL) =>
  !existsSync(join(ergon.dataFolder, 'databases', idOf(url))) &&
  (await ergon.sql("select from resources where id = $1 and actual = 'deleted'", [idOf(url)]))
    .length > 0

test('a node that runs no databases ends their deletions, and says which rows are in no backup', async () => {
  const [whole, cut, kept] = [
    await newDatabase('whole'),
    await newDatabase('cut'),
    await newDatabase('kept'),
  ]
  await ergon.restart()
  // Its server is killed with the agent, so its log is not whole.
  const client = await connectTo(cut)
  await client.query('insert into kept values (2)')
  await ergon.kill()
  await client.end().catch(() => undefined)
  await ergon.resume({ ERGON_DATABASES: 'off' })
  for (const name of ['whole', 'cut']) {
    const { code, stderr } = await ergon.cli('db', 'delete', name, '--force')
    assert.equal(code, 0, stderr)
  }
  await until('it is deleted', () => isGone(whole))
  await until('the deletion waits', async () => {
    const text = "select from databases where last_log_cause = 'off' and id = $1"
    return (await ergon.sql(text, [idOf(cut)])).length > 0
  })
  // The tries take a day.
  await ergon.sql(
    "update databases set last_log_tried_from = now() - interval '27 hours' where id = $1",
    [idOf(cut)],
  )
  await until('it is deleted', () => isGone(cut))
  const events = await ergon.sql<{ data: Record<string, unknown> }>(
    "select data from events where type = 'database.log_lost'",
  )
  assert.deepEqual(
    events.map(({ data }) => data['database_name']),
    ['cut'],
  )
  assert.match(String(events[0]?.data['reason']), /Could not start the server/)
  assert.match((await ergon.cli('db', 'list')).stdout, /kept/)
  assert.ok(existsSync(join(ergon.dataFolder, 'databases', idOf(kept))))
  await ergon.sql("delete from alarms where kind = 'database_log_lost'")
  assert.deepEqual(await bookFaults(ergon), [])
})
