import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test, { after } from 'node:test'

import { sleep } from '#base/clock.ts'
import { Secret } from '#base/log.ts'

import { initialiseCluster } from './cluster.ts'
import type { PostgresInstall } from './install.ts'
import { cachedInstall } from './testing.ts'

const root = mkdtempSync(join(tmpdir(), 'ergon-cluster-'))
after(() => rmSync(root, { recursive: true }))
const isRoot = process.geteuid?.() === 0
const install = await cachedInstall()
const options = (folder: string) => ({
  install,
  folder,
  superuserPassword: new Secret('of a test'),
  walSegmentMb: 1,
  signal: AbortSignal.timeout(120_000),
})

/** For root, whom initdb refuses: a server that nobody else could reach, under a closed home. */
function closedInstall(home: string): PostgresInstall {
  const server = join(home, 'server')
  // Hard links where they can be made: 60 MB need not be copied for a test.
  const from = dirname(install.binFolder)
  assert.ok(['-alT', '-aT'].some((how) => spawnSync('cp', [how, from, server]).status === 0))
  chmodSync(home, 0o700)
  return { ...install, binFolder: join(server, 'bin') }
}

/** Begins to make a cluster in a program of its own, and kills that when the folder is half full. */
async function killHalfWay(parent: string, folder: string): Promise<void> {
  const program = `
    const { initialiseCluster } = await import(${JSON.stringify(import.meta.resolve('./cluster.ts'))})
    const { Secret } = await import(${JSON.stringify(import.meta.resolve('#base/log.ts'))})
    const [folder, binFolder] = process.argv.slice(1)
    await initialiseCluster({ folder, install: { binFolder, version: '16' },
      superuserPassword: new Secret('x'), signal: AbortSignal.timeout(60_000) })`
  const args = ['--input-type=module', '-e', program, folder, install.binFolder]
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const halves = () =>
    existsSync(parent) ? readdirSync(parent).filter((name) => name.includes('~')) : []
  while (halves().length === 0) await sleep(5)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

// One cluster for both: to make one takes 2 s of CPU.
test('initialiseCluster() redoes what a killed process left half done, and makes a cluster once, private to its owner, also for root', async () => {
  const home = join(root, 'home')
  mkdirSync(home)
  const parent = join(home, 'killed')
  const folder = join(parent, 'state')
  await killHalfWay(parent, folder)
  const scratch = readFileSync(join(parent, '.state.scratch'), 'utf8')
  assert.ok(existsSync(scratch))
  assert.equal(existsSync(folder), false)

  // Empty, as an operator may have made it.
  mkdirSync(folder)
  const owner = isRoot ? { uid: 70_001, gid: 70_002 } : undefined
  const own = owner !== undefined && { owner, install: closedInstall(home) }
  const wanted = { ...options(folder), ...own }
  assert.equal(await initialiseCluster(wanted), true)
  assert.deepEqual(readdirSync(parent).toSorted(), ['.state.lock', 'state'])
  assert.equal(existsSync(scratch), false)
  for (const path of ['.', 'lock', 'data', 'data/PG_VERSION', 'data/base/1', 'data/pg_hba.conf']) {
    const { uid, gid, mode } = statSync(join(folder, path))
    assert.equal(mode & 0o077 & (path.startsWith('data') ? 0o077 : 0o022), 0, path)
    if (owner !== undefined) assert.deepEqual({ uid, gid }, owner, path)
  }
  const before = readFileSync(join(folder, 'data', 'global', 'pg_control'))
  assert.equal(await initialiseCluster(wanted), false)
  assert.ok(readFileSync(join(folder, 'data', 'global', 'pg_control')).equals(before))
})

test('initialiseCluster() never touches a folder with other things in it', async () => {
  const folder = join(root, 'other')
  mkdirSync(folder)
  writeFileSync(join(folder, 'letter.txt'), 'dear all')
  await assert.rejects(initialiseCluster(options(folder)), {
    code: 'postgres_not_initialised',
    message: `Not a cluster of Ergon, and not empty: ${folder}`,
  })
  assert.deepEqual(readdirSync(folder), ['letter.txt'])
})

test('initialiseCluster() passes on what initdb says, and leaves nothing', async () => {
  const folder = join(root, 'refused', 'state')
  const refused = initialiseCluster({ ...options(folder), walSegmentMb: 3 })
  await assert.rejects(refused, { code: 'postgres_not_initialised', message: /power of two/ })
  assert.deepEqual(readdirSync(dirname(folder)), ['.state.lock'])
})

test('initialiseCluster() says when the disk is full, and leaves nothing', async (t) => {
  const small = join(root, 'small')
  mkdirSync(small)
  const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=10m', 'tmpfs', small])
  if (mount.status !== 0) return t.skip('a small tmpfs cannot be mounted here')
  t.after(() => spawnSync('umount', [small]))
  await assert.rejects(initialiseCluster(options(join(small, 'state'))), { code: 'storage_full' })
  assert.deepEqual(readdirSync(small), ['.state.lock'])
})
