// A server that does not start: its owner reads why, its clients are refused at once, and the operator has an alarm. The
// database goes on by itself when the cause is gone, or with db resume.
import assert from 'node:assert/strict'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, connectTo, makeDatabase, until, withClient } from './driver.ts'

const NAME = 'broken'
/** A refusal is no start: it comes at once. */
const REFUSED_MS_MAX = 3000

let ergon: Ergon
let url: URL
let id = ''
before(async () => {
  ergon = await startErgon({ env: { ERGON_DB_IDLE_SECONDS: '1' } })
  url = await makeDatabase(ergon, NAME)
  id = `db_${url.username.slice(2)}`
  await withClient(url, (client) => client.query('create table kept as select 1 as id'))
})
after(() => ergon?.stop())

type Shown = {
  readonly status: string
  readonly reason: string | null
  readonly last_awake: { readonly to: string | null; readonly slept_by: string | null }
}
const shown = async () =>
  JSON.parse((await ergon.cli('db', 'show', NAME, '--json')).stdout) as Shown
const statusIs = (status: string) => until(status, async () => (await shown()).status === status)
const eventsOf = (type: string) =>
  ergon.sql<{ data: Record<string, unknown> }>(
    `select data from events where type = '${type}' order by sequence`,
  )

/** The file without which no server of PostgreSQL starts. */
const control = () => join(ergon.dataFolder, 'databases', id, 'data/global/pg_control')

async function breakServer(): Promise<void> {
  await until('it sleeps', async () => (await shown()).last_awake.to !== null)
  renameSync(control(), `${control()}.away`)
}
const mendServer = () => renameSync(`${control()}.away`, control())

const refusalOf = async () => {
  const error = await connectTo(url).then(
    () => assert.fail('it was connected to'),
    (cause: unknown) => cause as Error & { code?: string; hint?: string },
  )
  return { code: error.code, message: error.message, hint: error.hint }
}

test('a server that does not start fails its database with the reason; clients are refused at once, and the operator has one alarm', async () => {
  await breakServer()
  const refusal = {
    code: '57P03',
    message: 'the server of the database does not start',
    hint: `The reason: ergon db show ${NAME}. It starts by itself once that is mended.`,
  }
  assert.deepEqual(await refusalOf(), refusal)
  await statusIs('failed')
  const { reason, last_awake: awake } = await shown()
  assert.match(reason ?? '', /pg_control".*No such file or directory/)
  assert.ok(!reason?.includes(ergon.dataFolder), reason ?? '')
  // A client that comes again starts nothing.
  // One answer has both: between two of them a try may begin.
  await until('the tries are over', async () => (await shown()).last_awake.slept_by === 'failed')
  const beganMs = performance.now()
  assert.deepEqual(await refusalOf(), refusal)
  assert.ok(performance.now() - beganMs < REFUSED_MS_MAX)
  assert.ok(awake !== null)
  const alarms = await ergon.sql<{ detail: Record<string, string> }>(
    "select detail from alarms where kind = 'database_failing'",
  )
  assert.equal(alarms.length, 1)
  const { detail } = alarms[0] ?? { detail: {} }
  assert.deepEqual([detail['database'], detail['name']], [id, NAME])
  // The operator sees the path, and what to do.
  assert.ok(detail['log']?.includes(control()), detail['log'])
  assert.match((await ergon.cli('admin', 'alarm', 'list')).stdout, /database_failing/)
  const [event, ...more] = await eventsOf('database.failed')
  assert.deepEqual(more, [])
  assert.deepEqual(
    [event?.data['database_id'], event?.data['database_name'], event?.data['reason']],
    [id, NAME, reason],
  )
  // Between two tries, which wait for 15 s and longer.
  await until('it is shown', async () =>
    /^status +failed: .*pg_control[^]*^awake +no: asleep since .*\(failed\)/m.test(
      (await ergon.cli('db', 'show', NAME)).stdout,
    ),
  )
})

test('db resume tells why it does not start, and starts it once the cause is gone', async () => {
  const failed = await ergon.cli('db', 'resume', NAME)
  assert.equal(failed.code, 1)
  assert.match(failed.stderr, /Could not make broken: .*pg_control/)
  mendServer()
  const mended = await ergon.cli('db', 'resume', NAME)
  assert.equal(mended.code, 0, mended.stderr)
  const { reason, status } = await shown()
  assert.deepEqual([status, reason], ['deployed', null])
  assert.equal((await eventsOf('database.recovered')).length, 1)
  await withClient(url, async (client) =>
    assert.deepEqual((await client.query('select id from kept')).rows, [{ id: 1 }]),
  )
})

test('a failed database goes on by itself, and can be suspended while it fails', async () => {
  await breakServer()
  assert.equal((await refusalOf()).code, '57P03')
  await statusIs('failed')
  assert.equal((await eventsOf('database.failed')).length, 2)
  mendServer()
  await statusIs('deployed')
  await withClient(url, (client) => client.query('select id from kept'))
  await breakServer()
  await refusalOf()
  await statusIs('failed')
  await ergon.cli('db', 'suspend', NAME)
  await statusIs('suspended')
  mendServer()
  await ergon.cli('db', 'delete', NAME, '--force')
  await until('its files are gone', () => !existsSync(join(ergon.dataFolder, 'databases', id)))
  await ergon.sql("delete from alarms where kind = 'database_failing'")
  assert.deepEqual(await bookFaults(ergon), [])
})

test('the deletion of a database whose server does not start ends with the log that is stored, and says since when rows may be missing', async () => {
  const name = 'undone'
  const own = await makeDatabase(ergon, name)
  id = `db_${own.username.slice(2)}`
  await withClient(own, (client) => client.query('create table kept as select 1 as id'))
  await backUpNightly(ergon, id)
  // Its last life must end by a kill: an orderly stop stores the whole log.
  const client = await connectTo(own)
  renameSync(control(), `${control()}.away`)
  await ergon.killCell(id.replace('_', '-'))
  await client.end().catch(() => undefined)
  // The first tries take minutes.
  await ergon.sql(
    "update databases set last_log_tries = 3, last_log_cause = 'start' where id = $1",
    [id],
  )
  assert.equal((await ergon.cli('db', 'delete', name, '--force')).code, 0)
  await until('its files are gone', () => !existsSync(join(ergon.dataFolder, 'databases', id)))
  await until('it is deleted', async () => {
    const rows = await ergon.sql("select from resources where id = $1 and actual = 'deleted'", [id])
    return rows.length > 0
  })
  const [event, ...more] = await eventsOf('database.log_lost')
  assert.deepEqual(more, [])
  const since = event?.data['since']
  assert.ok(typeof since === 'string')
  assert.deepEqual([event?.data['database_id'], event?.data['database_name']], [id, name])
  assert.match(String(event?.data['reason']), /pg_control".*No such file or directory/)
  const list = await ergon.cli('db', 'backup', 'list', id)
  assert.match(list.stderr, new RegExp(`Rows since ${since} may be missing`))
  const { restorable, data } = JSON.parse(
    (await ergon.cli('db', 'backup', 'list', id, '--json')).stdout,
  ) as { restorable: { to: string | null }[]; data: { id: string }[] }
  assert.ok(restorable.every(({ to }) => to === since))
  const refused = await ergon.cli('db', 'restore', id, '--as', 'never')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /to now: it can be restored to (times from|the ends of its backups)/)
  const backup = data[0]?.id ?? assert.fail()
  const restored = await ergon.cli('db', 'restore', id, '--backup', backup, '--as', 'done-again')
  assert.equal(restored.code, 0, restored.stderr)
  const again = new URL((await ergon.cli('db', 'url', 'done-again')).stdout.trim())
  await withClient(again, async (reader) =>
    assert.deepEqual((await reader.query('select id from kept')).rows, [{ id: 1 }]),
  )
  await ergon.sql("delete from alarms where kind in ('database_failing', 'database_log_lost')")
  assert.deepEqual(await bookFaults(ergon), [])
})
