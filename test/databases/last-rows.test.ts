// A restore at once after the end of its source, or amid a transaction of its source: each row that was acknowledged is
// there, or the restore says which time it can have. The log of these servers is stored at their ends alone.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { backUpNightly, connectTo, makeDatabase, until, withClient } from './driver.ts'
import { createRestoreDriver, idOf, serverPids } from './restore-driver.ts'

const ROWS = 200
const HELD_MS = 3000
/** A transaction that loads so many rows each time, so often. */
const LOADED_ROWS = 50
const LOADED_EACH_MS = 20

let ergon: Ergon
before(async () => {
  ergon = await startErgon({ env: { ERGON_DB_ARCHIVE_SECONDS: '3600' } })
})
after(() => ergon?.stop())

const { done, refused, rowsOf } = createRestoreDriver(() => ergon)
const numbers = Array.from({ length: ROWS }, (_, nth) => nth + 1)

/** A database whose rows are in no backup and in no stored log. */
async function withLastRows(name: string): Promise<URL> {
  const url = await makeDatabase(ergon, name)
  await withClient(url, (client) => client.query('create table kept (n int)'))
  await backUpNightly(ergon, idOf(url))
  await withClient(url, async (client) => {
    for (const n of numbers) await client.query('insert into kept values ($1)', [n])
  })
  return url
}

/** Stops the processes of a server where they are. */
async function freeze(url: URL): Promise<() => void> {
  const pids = await serverPids(ergon, url)
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  return () => pids.forEach((pid) => process.kill(pid, 'SIGCONT'))
}

const actualOf = async (url: URL) =>
  (
    await ergon.sql<{ actual: string }>('select actual from resources where id = $1', [idOf(url)])
  )[0]?.actual

const ask = (method: string, path: string, body: object = {}) =>
  fetch(`${ergon.baseUrl}/v1/databases/${path}`, {
    method,
    headers: { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' },
    ...(method !== 'DELETE' && { body: JSON.stringify(body) }),
  })

/** Loads rows in one transaction that stays open, until the disposal. */
async function loadRows(url: URL): Promise<AsyncDisposable> {
  const client = await connectTo(url)
  const ending = new AbortController()
  await client.query('begin')
  const loading = (async () => {
    while (!ending.signal.aborted) {
      await client.query('insert into kept select generate_series(1, $1)', [LOADED_ROWS])
      await pause(LOADED_EACH_MS)
    }
    await client.query('rollback')
  })()
  return {
    async [Symbol.asyncDispose]() {
      ending.abort()
      await loading.finally(() => client.end())
    },
  }
}

test('a clone amid a transaction that loads rows has each row that was committed before', async () => {
  const url = await withLastRows('loading')
  await using _load = await loadRows(url)
  for (const copy of ['loading-1', 'loading-2']) {
    await done('db', 'clone', 'loading', copy)
    assert.deepEqual(await rowsOf(copy), numbers)
  }
})

test('a restore at once after a deletion waits for the last rows', async () => {
  const url = await withLastRows('gone')
  const goOn = await freeze(url)
  await done('db', 'delete', 'gone', '--force')
  const restoring = done('db', 'restore', idOf(url), '--as', 'gone-again')
  await Promise.race([restoring, pause(HELD_MS)])
  goOn()
  await restoring
  assert.deepEqual(await rowsOf('gone-again'), numbers)
  await done('db', 'delete', 'gone-again', '--force')
})

test('a restore after a deletion amid which the agent was killed has the last rows', async () => {
  const url = await withLastRows('killed')
  await freeze(url)
  assert.equal((await ask('DELETE', 'killed')).status, 200)
  await ergon.kill()
  await ergon.resume()
  await done('db', 'restore', idOf(url), '--as', 'killed-again')
  assert.deepEqual(await rowsOf('killed-again'), numbers)
  await until('it is deleted', async () => (await actualOf(url)) === 'deleted')
  await done('db', 'delete', 'killed-again', '--force')
})

test('a database whose server was killed at its suspension is not restored without its last rows', async () => {
  const url = await withLastRows('held')
  await freeze(url)
  assert.equal((await ask('PATCH', 'held', { suspended: true })).status, 200)
  for (const pid of (await serverPids(ergon, url)).toReversed()) process.kill(pid, 'SIGKILL')
  await until('it is suspended', async () => (await actualOf(url)) === 'suspended')
  const words = await refused('db', 'clone', 'held', 'held-copy')
  assert.match(
    words,
    /can be restored to 20\S+Z or before\. .*: it is suspended, and its server did not stop in order\. Resume it/,
  )
  await done('db', 'resume', 'held')
  await done('db', 'clone', 'held', 'held-copy')
  assert.deepEqual(await rowsOf('held-copy'), numbers)
})

test('a server that stopped in order has its last rows in a restore, and is not started for them', async () => {
  const url = await withLastRows('asleep')
  await done('db', 'suspend', 'asleep')
  await done('db', 'clone', 'asleep', 'asleep-copy')
  assert.deepEqual(await rowsOf('asleep-copy'), numbers)
  assert.equal(await actualOf(url), 'suspended')
})
