// A node whose disk is lost, as docs/guide/operating.md says what is kept elsewhere: the state is another PostgreSQL, backups
// are in an S3 store, and there is an older copy of the data folder. Its old clusters are never served; without them one
// command of the operator brings back each database in its own place, with every row that was stored.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startUpstream, type UpstreamDouble } from '#blobs/upstream.fixture.ts'
import { bookFaults } from '../books.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, connectTo, makeDatabase, until, withClient } from './driver.ts'
import { createRestoreDriver, idOf } from './restore-driver.ts'

const AWAY = 503

let ergon: Ergon
let upstream: UpstreamDouble
let copies: string
let notes: URL
let asleep: URL
let resting: URL
before(async () => {
  upstream = await startUpstream()
  copies = mkdtempSync(join(tmpdir(), 'ergon-copies-'))
  ergon = await startErgon({
    external: true,
    env: {
      ERGON_DB_ARCHIVE_SECONDS: '1',
      ERGON_STORAGE_BLOBS: 's3://bodies/cloud',
      ERGON_STORAGE_S3_ENDPOINT: upstream.url,
      ERGON_STORAGE_S3_REGION: 'eu-north-1',
      ERGON_STORAGE_S3_KEY: 'key:secret',
    },
  })
  notes = await newDatabase('notes')
  asleep = await newDatabase('asleep')
  resting = await newDatabase('resting')
})
after(async () => {
  await ergon?.stop()
  await upstream?.[Symbol.asyncDispose]()
  if (copies !== undefined) rmSync(copies, { recursive: true, force: true })
})

const { done, refused, rowsOf, write, storedTo } = createRestoreDriver(() => ergon)

async function newDatabase(name: string): Promise<URL> {
  const url = await makeDatabase(ergon, name)
  await withClient(url, (client) => client.query('create table kept as select 1 as n'))
  await backUpNightly(ergon, idOf(url))
  return url
}

type Shown = { readonly status: string; readonly reason: string | null }
const shown = async (name: string) =>
  JSON.parse((await ergon.cli('db', 'show', name, '--json')).stdout) as Shown
const statusIs = (name: string, status: string) =>
  until(`${name} is ${status}`, async () => (await shown(name)).status === status)

const lostEvents = () =>
  ergon.sql<{ data: Record<string, string> }>(
    "select data from events where type = 'database.log_lost' order by sequence",
  )

async function stop(): Promise<void> {
  process.kill(ergon.pid, 'SIGTERM')
  await until('it has ended', () => !ergon.isRunning)
}

const refusalOf = (url: URL) =>
  connectTo(url).then(
    () => assert.fail('it was connected to'),
    (cause: unknown) => cause as Error & { readonly code?: string; readonly hint?: string },
  )

test('files of a database that are older than its backups are not served, and the log of two histories is not mixed', async () => {
  await done('db', 'suspend', 'resting')
  await stop()
  execFileSync('cp', ['-a', ergon.dataFolder, join(copies, 'data')])
  await ergon.resume()
  const stored = await write(notes, 2)
  await storedTo(notes, stored)
  upstream.refuses = AWAY
  // Acknowledged, and never stored.
  await write(notes, 3)
  await ergon.kill()
  upstream.refuses = undefined
  for (const name of readdirSync(ergon.dataFolder))
    rmSync(join(ergon.dataFolder, name), { recursive: true })
  execFileSync('cp', ['-a', `${copies}/data/.`, ergon.dataFolder])
  await ergon.resume()
  const { code, message } = await refusalOf(notes)
  assert.deepEqual([code, message], ['57P03', 'the server of the database does not start'])
  await statusIs('notes', 'failed')
  assert.match((await shown('notes')).reason ?? '', /its files are older than its backups/)
  // Each start of a server writes log: further tries would reach the end of the stored log, and serve the old rows.
  const tried = await refused('db', 'resume', 'notes')
  assert.match(tried, /its files are older than its backups/)
  // Nobody has written into it since the copy.
  const woken = new Date()
  assert.deepEqual(await rowsOf('asleep'), [1])
  // A server that is stopped before its log is followed stores the rest at its next start.
  await storedTo(asleep, woken)
})

test('databases whose files are missing say so from the start on, to their owners and to the operator', async () => {
  await stop()
  rmSync(join(ergon.dataFolder, 'databases'), { recursive: true })
  await ergon.resume()
  for (const name of ['notes', 'asleep']) {
    await statusIs(name, 'failed')
    await until('it says why', async () =>
      /its files are missing; the operator .* can restore them/.test(
        (await shown(name)).reason ?? '',
      ),
    )
  }
  const told = await ergon.sql<{ database: string }>(
    "select detail ->> 'database' as database from alarms where kind = 'database_failing' order by 1",
  )
  assert.deepEqual(
    new Set(told.map(({ database }) => database)),
    new Set([notes, asleep, resting].map(idOf)),
  )
  const { code, hint } = await refusalOf(asleep)
  assert.equal(code, '57P03')
  assert.match(hint ?? '', /ergon db show asleep/)
  assert.match(await refused('db', 'clone', 'notes', 'copy'), /can be restored to 20\S+Z or before/)
})

test('one command of the operator restores each of them in its own place, and the rows that were never stored alone are lost', async () => {
  const printed = await done('admin', 'database', 'restore-lost', '--json')
  const list = JSON.parse(printed) as {
    id: string
    is_restoring: boolean
    stored_to: string | null
  }[]
  assert.deepEqual(
    list.map(({ id, is_restoring: isRestoring }) => [id, isRestoring]),
    [notes, asleep, resting].map((url) => [idOf(url), true]),
  )
  assert.deepEqual(
    list.map(({ stored_to: to }) => to !== null),
    [true, false, false],
  )
  for (const name of ['notes', 'asleep']) await statusIs(name, 'deployed')
  // The connection strings from before are those of now.
  const numbers = (url: URL) =>
    withClient(url, async (client) =>
      (await client.query<{ n: number }>('select n from kept order by n')).rows.map(({ n }) => n),
    )
  assert.deepEqual(await numbers(notes), [1, 2])
  assert.deepEqual(await numbers(asleep), [1])
  assert.equal((await shown('resting')).status, 'suspended')
  await done('db', 'resume', 'resting')
  assert.deepEqual(await numbers(resting), [1])
  const events = await lostEvents()
  assert.deepEqual(
    events.map(({ data }) => [data['database_id'], data['since']]),
    [[idOf(notes), list[0]?.stored_to]],
  )
  assert.match(await done('admin', 'database', 'restore-lost'), /No database has lost its files/)
})

test('the log of a database that was restored in its own place goes on, and times before and after are restored', async () => {
  await until('a copy from behind the loss is done', async () => {
    const text = `select from database_log_gaps g join database_backups b using (database)
      where g.database = $1 and b.begin_lsn >= g.to_lsn and b.status = 'done'`
    return (await ergon.sql(text, [idOf(notes)])).length > 0
  })
  await write(notes, 4)
  await done('db', 'clone', 'notes', 'later')
  assert.deepEqual(await rowsOf('later'), [1, 2, 4])
  const [stored] = await ergon.sql<{ at: Date }>(
    'select stored_to as at from database_log_gaps where database = $1',
    [idOf(notes)],
  )
  // A source that sleeps has its whole log stored, which ends far behind that time.
  await done('db', 'suspend', 'notes')
  await done('db', 'restore', 'notes', '--to', stored?.at.toISOString() ?? '', '--as', 'earlier')
  assert.deepEqual(await rowsOf('earlier'), [1, 2])
  // The journals of the lost disk are another alarm.
  const told = "('database_failing', 'database_log_lost', 'journal_missing')"
  await ergon.sql(`delete from alarms where kind in ${told}`)
  assert.deepEqual(await bookFaults(ergon), [])
})
