// No start without room. A disk that others fill then: the reserve is given up, the node says that it is not ready and goes on
// answering what still comes, and is ready again when there is room.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { seed, seedState } from '../ergon-cache.ts'
import { call, MAIN, startRaw } from './raw-start.ts'
import { freeBlock, portFlags } from '../ports.ts'
import type { ReadyLine } from '../start-ergon.ts'

/** A disk on which the product cannot start. */
const SMALL_MIB = 64
const DISK_MIB = 640
const BALLAST_MIB = 40
const MIB = 1024 * 1024
const LARGE_MIB = 16
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
  const said = /^Could not start: \d+ MB are free in .*, 250 MB are needed$/
  const messages = start.messages()
  assert.equal(messages.length, 1)
  assert.match(messages[0] ?? '', said)
}

async function assertFilled(disk: string, args: readonly string[]): Promise<void> {
  const ballast = join(disk, 'data', 'ballast')
  const start = startRaw(args, { env: { ERGON_BALLAST_MIB: String(BALLAST_MIB) } })
  try {
    const ready = await start.ready()
    await start.says(/everything is up/)
    const status = async (path: string) => (await call(ready, path)).status
    const s3 = createStored(ready)
    await s3.fill()
    const underWay = beginBody(ready)
    await underWay.arrives(join(disk, 'data', 'blobs'))
    await until(() => existsSync(ballast))
    assert.equal(await status('/readyz'), 200)

    const { bavail, bsize } = statfsSync(disk)
    const fillBytes = bavail * bsize - 2 * MIB
    execFileSync('fallocate', ['--length', String(fillBytes), join(disk, 'filler')])
    await until(async () => (await status('/readyz')) === 507)
    assert.match((await call(ready, '/readyz')).body, /Not ready: the disk is full/)
    await start.says(/The disk is full: the reserve was given up/)
    assert.ok(!existsSync(ballast))
    await s3.assertOnlyLess()
    assert.match(await underWay.goOn(), /^HTTP\/1.1 507 [^]*<Code>InsufficientStorage</)
    assert.deepEqual(bodiesIn(join(disk, 'data', 'blobs')), [])
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
    // The gateway that takes it may be the other one, which sees the room a moment later.
    await until(async () => (await s3.ask('PUT', '/full/again', 'x')) === 200)
  } finally {
    start.child.kill('SIGTERM')
    assert.equal((await start.ended()).code, 0, start.stderr())
  }
}

const bodiesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes('/'))

/** A body for which the reserve would have room, of which the first MiB is sent while there is room, and the rest when there is none for it. */
function beginBody({ base_url, token = '' }: ReadyLine) {
  const { hostname, port, host } = new URL(base_url)
  const piece = randomBytes(MIB)
  const socket = connect({ host: hostname, port: Number(port) })
  let heard = ''
  socket.on('data', (bytes) => (heard += bytes.toString('latin1')))
  // The answer is what counts, however the connection ends.
  socket.on('error', () => undefined)
  socket.write(
    `PUT /full/large HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${token}\r\n` +
      `content-length: ${LARGE_MIB * MIB}\r\n\r\n`,
  )
  socket.write(piece)
  return {
    arrives: (folder: string) => until(() => bodiesIn(folder).length > 0),
    async goOn() {
      for (let sent = 1; sent < LARGE_MIB && !socket.destroyed; sent++) socket.write(piece)
      await until(() => /^HTTP\/1.1 200|<\/Error>/.test(heard) || socket.destroyed)
      socket.destroy()
      return heard
    },
  }
}

/** Objects stored before the disk is full, and the operations allowed on them then. */
function createStored({ base_url, token = '' }: ReadyLine) {
  const send = (method: string, path: string, body?: string, headers: object = {}) =>
    fetch(new URL(path, base_url), {
      method,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    })
  const ask = async (...asked: Parameters<typeof send>) => {
    const answer = await send(...asked)
    await answer.text()
    return answer.status
  }
  let upload = ''
  const tags = '<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>'
  return {
    ask,
    async fill() {
      for (const path of ['/full', '/full/kept', '/full/gone'])
        assert.equal(await ask('PUT', path, path === '/full' ? undefined : 'x'), 200)
      const begun = await send('POST', '/full/upload?uploads')
      upload = /<UploadId>(.+)<\/UploadId>/.exec(await begun.text())?.[1] ?? ''
      assert.notEqual(upload, '')
    },
    async assertOnlyLess() {
      const copy = { 'x-amz-copy-source': '/full/kept' }
      // Writers of one second share a check of the disk.
      await until(async () => (await ask('PUT', '/full/more', 'x')) === 507)
      assert.equal(await ask('PUT', '/full/copy', undefined, copy), 507)
      assert.equal(await ask('PUT', '/full/kept?tagging', tags), 507)
      assert.equal(await ask('PUT', '/full?tagging', tags), 507)
      assert.equal(await ask('PUT', '/another'), 507)
      assert.equal(await ask('POST', '/full/another?uploads'), 507)
      assert.equal(await ask('PUT', `/full/upload?partNumber=1&uploadId=${upload}`, 'x'), 507)
      assert.equal(await ask('GET', '/full/kept'), 200)
      assert.equal(await ask('DELETE', '/full/gone'), 204)
      assert.equal(await ask('DELETE', `/full/upload?uploadId=${upload}`), 204)
    },
  }
}
