// Backups and restores that cannot go on: of a budget that is used up, and of a database that is deleted meanwhile. And
// those of the file store, which is the default.
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { product, sharedErgon } from '../product.ts'
import { PLAIN } from '../settings.ts'
import { makeDatabase, until, withClient } from './driver.ts'

product(PLAIN)

const NAME = 'backed-up'
const LATER_MS = 2500
let url: URL

before(async () => {
  url = await makeDatabase(sharedErgon(), NAME)
  await withClient(url, (client) => client.query('create table rows as select 1 as n'))
})

async function done(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await sharedErgon().cli(...words)
  assert.equal(code, 0, `${words.join(' ')}: ${stderr}`)
  return stdout.trim()
}

/** The folders of restores under way and of clusters whose names begin with the id. */
function foldersOf(id: string): string[] {
  const folder = join(sharedErgon().dataFolder, 'databases')
  return [...readdirSync(folder), ...readdirSync(join(folder, 'restored'))].filter((name) =>
    name.startsWith(id),
  )
}

test('a deletion amid an unpack ends the restore and leaves nothing, and the next one is whole', async () => {
  const ergon = sharedErgon()
  const headers = { authorization: `Bearer ${ergon.token}`, 'content-type': 'application/json' }
  const backup = await done('db', 'backup', 'create', NAME)
  const body = JSON.stringify({ name: 'not-wanted', from: { database: NAME, backup } })
  const asked = await fetch(`${ergon.baseUrl}/v1/databases`, { method: 'POST', headers, body })
  const { id } = (await asked.json()) as { id: string }
  const making = join(ergon.dataFolder, 'databases', 'restored', `${id}~`, 'data', 'base')
  for (let nth = 0; nth < 5000 && !existsSync(making); nth++) await pause(2)
  const process_ = await ergon.pidOf('db-backups')
  process.kill(process_, 'SIGSTOP')
  try {
    assert.ok(existsSync(making), 'it was over before it was stopped')
    const gone = await fetch(`${ergon.baseUrl}/v1/databases/${id}`, { method: 'DELETE', headers })
    assert.equal(gone.status, 200)
  } finally {
    process.kill(process_, 'SIGCONT')
  }
  await until('nothing is left', () => foldersOf(id).length === 0)
  await until('it is deleted', async () => {
    const rows = await ergon.sql<{ actual: string }>('select actual from resources where id = $1', [
      id,
    ])
    return rows[0]?.actual === 'deleted'
  })
  const charges = async () =>
    (
      await ergon.sql<{ operation: string }>(
        `select operation from charges
         where convert_from(bytes, 'UTF8')::jsonb ->> 'resource' in ($1, $2)`,
        [`database:${id}`, `cell:${id.replace('_', '-')}`],
      )
    ).length
  await pause(LATER_MS)
  const before = await charges()
  await pause(LATER_MS)
  assert.equal(await charges(), before)
  assert.deepEqual(foldersOf(id), [])
  await done('db', 'restore', NAME, '--backup', backup, '--as', 'whole')
  const restored = new URL(await done('db', 'url', 'whole'))
  const rows = await withClient(
    restored,
    async (client) => (await client.query('select n from rows')).rows,
  )
  assert.deepEqual(rows, [{ n: 1 }])
  await done('db', 'delete', 'whole', '--force')
})

test('a backup that the energy budget does not allow says so, and how to raise it', async () => {
  const ergon = sharedErgon()
  await done('db', 'budget', NAME, '10 J/day')
  const loop = 'do $$ begin loop perform 1; end loop; end $$'
  await assert.rejects(
    withClient(url, (client) => client.query(loop)),
    { code: '53400' },
  )
  const made = await ergon.cli('db', 'backup', 'create', NAME)
  assert.equal(made.code, 1, made.stdout)
  const words = /energy budget of this database is used up.*ergon db budget backed-up/
  assert.match(made.stderr, words)
  assert.match(await done('db', 'backup', 'list', NAME, '--json'), words)
  const rows = await ergon.sql<{ is_unpaid: boolean }>(
    "select is_unpaid from database_backups where status = 'failed'",
  )
  assert.deepEqual(rows, [{ is_unpaid: true }])
  await done('db', 'budget', NAME, 'none')
  await done('db', 'delete', NAME, '--force')
})
