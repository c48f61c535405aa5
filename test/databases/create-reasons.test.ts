// A database that cannot be made: db create says why and what becomes of it, the operator has an alarm, and the database is
// made by itself once the cause is gone.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { INSTALL_RECORD, POSTGRES_FOLDER } from '#contract/databases/client-tools.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { until, withClient } from './driver.ts'

/** Less than the files of a database. */
const SMALL = '12m'
const LARGE = '400m'

let ergon: Ergon
let folder = ''
before(async () => {
  ergon = await startErgon()
  folder = join(ergon.dataFolder, 'databases')
  mkdirSync(folder, { recursive: true })
})
after(async () => {
  if (isMounted) execFileSync('umount', ['--lazy', folder])
  await ergon?.stop()
})

let isMounted = false
function mountSmallDisk(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL},mode=755`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
    isMounted = true
  } catch {
    return false
  }
  return true
}

const statusOf = async (name: string) =>
  (JSON.parse((await ergon.cli('db', 'show', name, '--json')).stdout) as { status: string }).status
const urlOf = async (name: string) => new URL((await ergon.cli('db', 'url', name)).stdout.trim())
const alarms = async (name: string) =>
  (
    await ergon.sql<{ log: string }>(
      `select detail ->> 'log' as log from alarms where kind = 'database_failing' and detail ->> 'name' = '${name}'`,
    )
  ).map(({ log }) => log)

test('without room db create says so at once, and the database is made when there is room', async (t) => {
  if (!mountSmallDisk()) return t.skip('nothing may be mounted here: needs root and CAP_SYS_ADMIN')
  const failed = await ergon.cli('db', 'create', 'roomy')
  assert.equal(failed.code, 1, failed.stdout)
  assert.match(failed.stderr, /Could not make roomy: .*the disk of the service is full/)
  assert.match(failed.stderr, /it stays, and is tried again by itself: ergon db show roomy/)
  assert.doesNotMatch(failed.stderr, new RegExp(ergon.dataFolder))
  assert.equal((await alarms('roomy')).length, 1)
  execFileSync('mount', ['-o', `remount,size=${LARGE}`, folder])
  await until('it is made by itself', async () => (await statusOf('roomy')) === 'deployed')
  await withClient(await urlOf('roomy'), (client) => client.query('create table notes (id int)'))
})

test('without the programs of PostgreSQL db create says so', async () => {
  const record = readFileSync(join(ergon.dataFolder, POSTGRES_FOLDER, INSTALL_RECORD), 'utf8')
  const { tree } = JSON.parse(record) as { tree: string }
  const program = join(ergon.dataFolder, POSTGRES_FOLDER, tree, 'bin/postgres')
  renameSync(program, `${program}.away`)
  const failed = await ergon.cli('db', 'create', 'programless')
  renameSync(`${program}.away`, program)
  assert.equal(failed.code, 1, failed.stdout)
  assert.match(failed.stderr, /the service has no PostgreSQL that it can run/)
  assert.match((await alarms('programless')).join(), /postgres/)
  // A wish of its own is tried at once.
  await until('it is made by itself', async () => (await statusOf('programless')) === 'deployed')
})
