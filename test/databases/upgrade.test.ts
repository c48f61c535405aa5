// A newer PostgreSQL on a node that has databases: its servers run it from their next start on, and db upgrade renews
// the extensions. The newer one is a copy of the install under another name, whose server says another version.
import assert from 'node:assert/strict'
import { chmodSync, cpSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { passwordKeyOf } from '#databases/logins/passwords.ts'
import { startErgon, type Ergon } from '../start-ergon.ts'
import { makeDatabase, until, withClient } from './driver.ts'

const NEWER = '16.99'
const OLD_VECTOR = '0.8.4'

let ergon: Ergon
before(async () => {
  ergon = await startErgon()
})
after(() => ergon?.stop())

type Shown = {
  readonly postgres_version: string
  readonly vector_version: string
  readonly extensions: readonly { readonly name: string; readonly version: string }[]
}
const shown = async (command: string): Promise<Shown> =>
  JSON.parse((await ergon.cli('db', command, 'notes', '--json')).stdout) as Shown
const vectorOf = ({ extensions }: Shown) =>
  extensions.find(({ name }) => name === 'vector')?.version

/** Puts a newer install beside the one of the data folder, and records it as --pg-upgrade does. */
function installNewer(): string {
  const folder = join(ergon.dataFolder, 'postgres')
  const record = join(folder, 'install.json')
  const choice = JSON.parse(readFileSync(record, 'utf8')) as { tree: string }
  const tree = choice.tree.replace(/^[\d.]+/, NEWER)
  cpSync(join(folder, choice.tree), join(folder, tree), {
    recursive: true,
    verbatimSymlinks: true,
  })
  const program = join(folder, tree, 'bin', 'postgres')
  renameSync(program, `${program}.real`)
  writeFileSync(
    program,
    `#!/bin/sh
[ "$1" = --version ] && echo 'postgres (PostgreSQL) ${NEWER}' && exit
exec "$0.real" "$@"
`,
  )
  chmodSync(program, 0o755)
  writeFileSync(record, JSON.stringify({ ...choice, tree }))
  return `${program}.real`
}

test('a newer install is used from the next start on, and db upgrade renews the extensions', async () => {
  const url = await makeDatabase(ergon, 'notes')
  const cell = `db-${url.username.slice(2)}`
  await withClient(url, (client) => client.query('create extension vector; create table kept ()'))
  const before = await shown('show')
  assert.match(before.postgres_version, /^16\.\d+$/)
  assert.notEqual(before.postgres_version, NEWER)
  // As an older pgvector has left it.
  const { state } = JSON.parse(readFileSync(join(ergon.dataFolder, 'secrets.json'), 'utf8')) as {
    state: string
  }
  const superuser = new URL(url)
  superuser.username = 'postgres'
  await withClient(
    superuser,
    (client) =>
      client.query(`update pg_extension set extversion = '${OLD_VECTOR}' where extname = 'vector'`),
    {
      host: join(ergon.runFolder, 'databases', cell),
      port: 5432,
      password: passwordKeyOf(`superuser ${state}`),
      ssl: false,
    },
  )
  const program = installNewer()
  await ergon.restart()
  await withClient(url, (client) => client.query('select from kept'))
  assert.equal(readlinkSync(`/proc/${await ergon.pidOf(cell)}/exe`), program)
  await until('the versions are seen', async () => {
    const now = await shown('show')
    return now.postgres_version === NEWER && vectorOf(now) === OLD_VECTOR
  })
  const upgraded = await shown('upgrade')
  assert.equal(vectorOf(upgraded), before.vector_version)
  await withClient(url, (client) => client.query("select '[1,2]'::vector <-> '[2,3]'"))
})
