// No start without room. A disk that others fill then: the reserve is given up, the node says that it is not ready and goes on
// answering what still comes, and is ready again when there is room.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { seed, seedState } from './ergon-cache.ts'
import { call, MAIN, startRaw } from './faults/raw-start.ts'
import { freeBlock, portFlags } from './ports.ts'

/** Too small for a start. */
const SMALL_MIB = 64
const DISK_MIB = 640
const BALLAST_MIB = 40
const MIB = 1024 * 1024
const LIMIT_MS = 30_000

const mount = (folder: string, mib: number, ...flags: string[]): void => {
  const options = [...flags, `size=${mib}m`, 'mode=711'].join()
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'ignore' })
}
const mounted = (folder: string): boolean => {
  try {
    mount(folder, SMALL_MIB)
    return true
  } catch {
    return false
  }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (const last = performance.now() + LIMIT_MS; !(await holds()); await pause(50))
    assert.ok(performance.now() < last, 'it does not come to hold')
}

test('a disk without room', { timeout: 180_000 }, async (t) => {
  const disk = mkdtempSync(join(tmpdir(), 'ergon-test-'))
  t.after(() => rmSync(disk, { recursive: true, force: true }))
  if (!mounted(disk)) return t.skip('nothing may be mounted here: needs root and CAP_SYS_ADMIN')
  try {
    const folder = join(disk, 'data')
    mkdirSync(folder, { mode: 0o711 })
    const args = [...MAIN, '--data', folder, '--json', ...portFlags(await freeBlock())]
    await t.test('a full disk ends the start in one line', () => assertNoStart(args))
    // Nothing else of the cache: it may have models, which would fill the disk by themselves.
    for (const name of ['artifacts', 'postgres', 'compiled'])
      rmSync(join(folder, name), { recursive: true, force: true })
    mount(disk, DISK_MIB, 'remount')
    await seed(folder, 'none', ['postgres', 'compiled'])
    await seedState(folder)
    await t.test(
      'room mends it; when it is full again, that is said, and what is promised is kept',
      () => assertFilled(disk, args),
    )
  } finally {
    execFileSync('umount', [disk])
  }
})

async function assertNoStart(args: readonly string[]): Promise<void> {
  const start = startRaw(args)
  assert.equal((await start.ended()).code, 1)
  const said = /^ergon: Could not start: \d+ MB are free in .*, 250 MB are needed\n$/
  assert.match(start.stderr(), said)
}

async function assertFilled(disk: string, args: readonly string[]): Promise<void> {
  const ballast = join(disk, 'data', 'ballast')
  const start = startRaw(args, { env: { ERGON_BALLAST_MIB: String(BALLAST_MIB) } })
  try {
    const ready = await start.ready()
    await start.says(/everything is up/)
    const status = async (path: string) => (await call(ready, path)).status
    await until(() => existsSync(ballast))
    assert.equal(await status('/readyz'), 200)

    const { bavail, bsize } = statfsSync(disk)
    const fillBytes = bavail * bsize - 2 * MIB
    execFileSync('fallocate', ['--length', String(fillBytes), join(disk, 'filler')])
    await until(async () => (await status('/readyz')) === 507)
    assert.match((await call(ready, '/readyz')).body, /Not ready: the disk is full/)
    await start.says(/The disk is full: the reserve was given up/)
    assert.ok(!existsSync(ballast))
    const told: string[] = []
    for (let nth = 0; nth < 100; nth++) {
      const answer = await call(ready, '/v1/models')
      assert.equal(answer.status, 200)
      told.push(String(answer.headers['x-receipt-id']))
    }
    const last = `/v1/receipts/${told.at(-1)}`
    await until(async () => (await status(last)) === 200)

    rmSync(join(disk, 'filler'))
    await until(async () => (await status('/readyz')) === 200)
    await until(() => existsSync(ballast))
  } finally {
    start.child.kill('SIGTERM')
    assert.equal((await start.ended()).code, 0, start.stderr())
  }
}
