import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { sleep } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { tenantRoomOf } from '#base/tenant-room.ts'
import { startBallast } from './ballast.ts'

const MIB = 1024 * 1024
const LOOK_MS = 5

/** A disk of its own in memory; undefined where nothing may be mounted. */
function smallDisk(t: TestContext, mib: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mib}m`, 'tmpfs', folder], {
      stdio: 'ignore',
    })
  } catch {
    rmSync(folder, { recursive: true })
    t.skip('nothing may be mounted here: needs root and CAP_SYS_ADMIN')
    return undefined
  }
  t.after(() => {
    execFileSync('umount', [folder])
    rmSync(folder, { recursive: true })
  })
  return folder
}

function start(path: string, bytesMax: number, hears: () => boolean = () => true) {
  const lines: string[] = []
  const told: boolean[] = []
  const ballast = startBallast({
    path,
    bytesMax,
    lookMs: LOOK_MS,
    log: createLogger('test', { write: (line) => lines.push(line) }),
    tell: async (isFull) => {
      told.push(isFull)
      return hears()
    },
  })
  return { ballast, lines, told }
}

async function until(holds: () => boolean): Promise<void> {
  for (const signal = AbortSignal.timeout(20_000); !holds();) await sleep(LOOK_MS, signal)
}

test('the ballast is given up when the disk is full, and made again when there is room', async (t) => {
  const disk = smallDisk(t, 60)
  if (disk === undefined) return
  const path = join(disk, 'ballast')
  let hears = true
  const { ballast, lines, told } = start(path, 256 * MIB, () => hears)
  // A fifteenth of a small disk.
  await until(() => existsSync(path) && statSync(path).size === 4 * MIB)
  assert.deepEqual([ballast.isFull, told, lines], [false, [], []])

  const filler = join(disk, 'filler')
  writeFileSync(filler, Buffer.alloc(55.5 * MIB))
  await until(() => ballast.isFull && told.length >= 3)
  assert.ok(!existsSync(path), 'its room is there for who must write')
  writeFileSync(join(disk, 'journal'), Buffer.alloc(3 * MIB))
  assert.ok(told.every((isFull) => isFull))
  assert.equal(lines.length, 1, 'said once')
  assert.match(lines[0] ?? '', /The disk is full/)

  // Room for the reserved disk space alone is not enough: the reserve would be given up at once.
  rmSync(join(disk, 'journal'))
  await sleep(20 * LOOK_MS)
  assert.ok(ballast.isFull && !existsSync(path))

  hears = false
  rmSync(filler)
  await until(() => !ballast.isFull && existsSync(path))
  const before = told.length
  await until(() => told.length > before + 2)
  hears = true
  // Told until it was heard, and no longer: ten looks without a word.
  for (let last = -1; told.length > last; await sleep(10 * LOOK_MS)) {
    assert.ok(told.length < 1000, 'told for ever')
    last = told.length
  }
  assert.equal(lines.length, 2)
  await ballast.stop()
})

test('a small disk has a ballast beside all that tenants may store and volumes may be promised', async (t) => {
  const disk = smallDisk(t, 150)
  if (disk === undefined) return
  const filler = openSync(join(disk, 'filler'), 'w')
  while (tenantRoomOf(statfsSync(disk)) > MIB) writeSync(filler, Buffer.alloc(MIB / 4))
  closeSync(filler)
  const path = join(disk, 'ballast')
  const { ballast } = start(path, 256 * MIB)
  await until(() => existsSync(path) && statSync(path).size === 10 * MIB)
  assert.equal(ballast.isFull, false)
  await ballast.stop()
})

test('a disk with too little room gets no ballast, and is not full for that', async (t) => {
  const disk = smallDisk(t, 40)
  if (disk === undefined) return
  writeFileSync(join(disk, 'filler'), Buffer.alloc(37 * MIB))
  const { ballast, told } = start(join(disk, 'ballast'), 256 * MIB)
  await sleep(20 * LOOK_MS)
  assert.deepEqual([ballast.isFull, existsSync(join(disk, 'ballast')), told], [false, false, []])
  await ballast.stop()
})

test('an obstacle to a look, such as a missing fallocate, is told once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-ballast-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { ballast, lines } = start(join(folder, 'absent', 'ballast'), MIB)
  await until(() => lines.length > 0)
  await sleep(20 * LOOK_MS)
  await ballast.stop()
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /could not be watched.*ENOENT/)
})

test('without a ballast one of an earlier start is removed', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-ballast-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'ballast')
  writeFileSync(path, 'x')
  const { ballast, told } = start(path, 0)
  await until(() => !existsSync(path))
  assert.deepEqual([ballast.isFull, told], [false, []])
  await ballast.stop()
})
