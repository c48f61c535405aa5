// A machine whose first start could not fetch pgvector: the command line and the server say so to the owner of a
// database, and the start that both name mends it.
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { INSTALL_RECORD, POSTGRES_FOLDER } from '#contract/databases/client-tools.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { withClient } from './driver.ts'

const REMEDY = /npm start -- --pg-upgrade/

let ergon: Ergon
before(async () => {
  ergon = await startErgon()
  // The record of such a start. The next one assembles the tree without pgvector.
  const record = join(ergon.dataFolder, POSTGRES_FOLDER, INSTALL_RECORD)
  const { tree } = JSON.parse(readFileSync(record, 'utf8')) as { tree: string }
  const bare = { rung: 'bare', tree: tree.replace(/-pgvector.*/, ''), why: 'no package index' }
  writeFileSync(record, JSON.stringify(bare))
  await ergon.restart()
})
after(() => ergon?.stop())

const urlOf = async (name: string) => new URL((await ergon.cli('db', 'url', name)).stdout.trim())
const makeVector = (url: URL) =>
  withClient(url, async (client) => {
    await client.query('create extension vector')
    return (await client.query("select '[1,2]'::vector <-> '[1,3]'::vector as distance")).rows
  })

test('db create, db show and CREATE EXTENSION vector say that pgvector is not there, and how to mend it', async () => {
  const made = await ergon.cli('db', 'create', 'plain')
  assert.equal(made.code, 0, made.stderr)
  assert.match(made.stderr, /There is no pgvector on this machine/)
  assert.match(made.stderr, REMEDY)
  assert.match((await ergon.cli('db', 'show', 'plain')).stdout, /^pgvector +not on this machine$/m)
  const url = await urlOf('plain')
  await assert.rejects(makeVector(url), {
    code: '0A000',
    message: 'the extension vector is not installed on this server',
    hint: REMEDY,
  })
  // The rest of the database is there.
  await withClient(url, (client) => client.query('create extension pg_trgm'))
})

test('after the start that was named the extension is created in the same database', async () => {
  await ergon.restart({ ERGON_PG_UPGRADE: 'on' })
  assert.deepEqual(await makeVector(await urlOf('plain')), [{ distance: 1 }])
  const made = await ergon.cli('db', 'create', 'later')
  assert.doesNotMatch(made.stderr, /pgvector/)
})
