// The disk is shared with buckets, databases and images: what volumes are promised stays theirs.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statfsSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { tenantRoomOf } from '#base/tenant-room.ts'
import { lockFile } from '#base/lock.ts'
import { makeRoomLock, roomLock, roomLockFolder } from '#node/room-lock.ts'
import { createKeptRoom } from './kept-room.ts'
import { createNodeVolumes } from './node-volumes.ts'

const MIB = 1_048_576
const DISK_MIB = 200
const VOLUME_BYTES = 100 * MIB
const WAIT_MS = 20_000
/** Nobody ends these waits. */
const WAIT = { signal: new AbortController().signal, waits: () => undefined }

/** A disk of its own in memory; undefined where nothing may be mounted. */
function smallDisk(t: TestContext): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-kept-'))
  try {
    const words = ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m`, 'tmpfs', folder]
    execFileSync('mount', words, { stdio: 'ignore' })
  } catch {
    rmSync(folder, { recursive: true })
    t.skip('nothing may be mounted here: needs root and CAP_SYS_ADMIN')
    return undefined
  }
  t.after(() => {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })
  return folder
}

function lockIn(disk: string): string {
  mkdirSync(roomLockFolder(disk))
  makeRoomLock(disk)
  return roomLock(disk)
}

const until = async (holds: () => boolean): Promise<void> => {
  for (const lastMs = performance.now() + WAIT_MS; !holds(); await pause(20))
    assert.ok(performance.now() < lastMs, `not in time: ${holds}`)
}

test('a volume can be filled after others have filled the disk as far as they may', async (t) => {
  const disk = smallDisk(t)
  if (disk === undefined) return
  const room = () => tenantRoomOf(statfsSync(disk))
  const folder = join(disk, 'volumes')
  const path = join(folder, 'wl_a', 'vol_a.img')
  mkdirSync(join(folder, 'wl_a'), { recursive: true })
  writeFileSync(path, '')
  truncateSync(path, VOLUME_BYTES)
  const volumes = createNodeVolumes(folder, lockIn(disk))
  const ending = new AbortController()
  const keeping = volumes.keepRoom(ending.signal)
  try {
    await until(() => room() < (DISK_MIB * 0.9 - 100) * MIB + MIB)
    assert.deepEqual(readdirSync(folder), ['wl_a'], 'no file that a copy would have')
    const others = openSync(join(disk, 'others'), 'w')
    while (room() > 0) writeSync(others, Buffer.alloc(MIB))
    const volume = openSync(path, 'r+')
    for (let at = 0; at < VOLUME_BYTES; at += MIB) {
      writeSync(volume, Buffer.alloc(MIB, 1), 0, MIB, at)
      // A disk of 60 MB/s: a tenth of this one holds what is written between two looks.
      await pause(16)
    }
    // The volume has taken the room that was kept.
    await until(() => room() > -3 * MIB)
    const more = { id: 'vol_b', name: 'more', path: '/more', bytes: 16 * MIB }
    const refused = { code: 'workload_failed', message: /the node has 0 MB for volumes/ }
    await assert.rejects(volumes.prepare({ id: 'wl_b', volumes: [more] }, WAIT), refused)
  } finally {
    ending.abort()
    await keeping
  }
})

test('a promise leaves the other products a part of the disk', async (t) => {
  const disk = smallDisk(t)
  if (disk === undefined) return
  const room = () => tenantRoomOf(statfsSync(disk))
  const folder = join(disk, 'volumes')
  mkdirSync(join(folder, 'wl_a'), { recursive: true })
  const others = openSync(join(disk, 'others'), 'w')
  while (room() > 50 * MIB) writeSync(others, Buffer.alloc(MIB))
  const volumes = createNodeVolumes(folder, lockIn(disk))
  const [least, most] = [(DISK_MIB / 50 - 1) * MIB, 50 * MIB]
  const wanted = { id: 'vol_b', name: 'more', path: '/more', bytes: most }
  await assert.rejects(volumes.prepare({ id: 'wl_b', volumes: [wanted] }, WAIT), {
    code: 'workload_failed',
    message: /the node has (46|47|48|49) MB for volumes/,
  })
  // The file of an older version, which promised more.
  const path = join(folder, 'wl_a', 'vol_a.img')
  writeFileSync(path, '')
  truncateSync(path, most)
  const ending = new AbortController()
  const keeping = volumes.keepRoom(ending.signal)
  try {
    await until(() => room() < least + 2 * MIB)
    assert.ok(room() >= least, `${room()} bytes are left`)
  } finally {
    ending.abort()
    await keeping
  }
})

test('the room of volumes that are gone is given back', async (t) => {
  const disk = smallDisk(t)
  if (disk === undefined) return
  const { bavail } = statfsSync(disk)
  const folder = join(disk, 'volumes')
  const volumes = createNodeVolumes(folder, lockIn(disk), {
    make: async (path) => {
      writeFileSync(path, '')
      truncateSync(path, VOLUME_BYTES)
    },
    grow: async () => undefined,
  })
  const ending = new AbortController()
  const keeping = volumes.keepRoom(ending.signal)
  const volume = { id: 'vol_a', name: 'data', path: '/data', bytes: VOLUME_BYTES }
  try {
    await volumes.open({ id: 'wl_a', volumes: [volume] }, WAIT)
    await until(() => (bavail - statfsSync(disk).bavail) * 4096 >= VOLUME_BYTES - MIB)
    await volumes.keep('wl_a', new Set())
    await until(() => (bavail - statfsSync(disk).bavail) * 4096 < MIB)
  } finally {
    ending.abort()
    await keeping
  }
})

test('room is kept after a pull or a restore that reserves room, and leaves that room', async (t) => {
  const disk = smallDisk(t)
  if (disk === undefined) return
  const folder = join(disk, 'volumes')
  mkdirSync(folder)
  const lock = lockIn(disk)
  const kept = createKeptRoom(folder, lock)
  t.after(() => kept.close())
  const before = statfsSync(disk).bavail
  await using restore = await lockFile(lock, undefined, { read: true })
  assert.equal(await kept.keep(VOLUME_BYTES), false)
  assert.deepEqual([kept.bytes, statfsSync(disk).bavail], [0, before], 'no block is taken')
  // The restore takes the room that it has found free.
  const others = openSync(join(disk, 'others'), 'w')
  while (tenantRoomOf(statfsSync(disk)) > 50 * MIB) writeSync(others, Buffer.alloc(MIB))
  await restore.release()
  assert.equal(await kept.keep(VOLUME_BYTES), true)
  assert.ok(kept.bytes > 40 * MIB && kept.bytes <= 50 * MIB, `${kept.bytes} bytes are kept`)
  // Volumes that fill up give room back at once.
  await using _ = await lockFile(lock, undefined, { read: true })
  assert.equal(await kept.keep(MIB), true)
  assert.equal(kept.bytes, MIB)
})

test('a volume is promised no room that a restore has found free, and has its own before a restore looks', async (t) => {
  const disk = smallDisk(t)
  if (disk === undefined) return
  const folder = join(disk, 'volumes')
  const lock = lockIn(disk)
  const room = () => tenantRoomOf(statfsSync(disk))
  let leftBytes: number | undefined
  const volumes = createNodeVolumes(folder, lock, {
    make: async (path) => {
      leftBytes = room()
      writeFileSync(path, '')
      truncateSync(path, VOLUME_BYTES)
    },
    grow: async () => undefined,
  })
  const open = (id: string) =>
    volumes.open(
      {
        id: `wl_${id}`,
        volumes: [{ id: `vol_${id}`, name: 'data', path: '/data', bytes: VOLUME_BYTES }],
      },
      WAIT,
    )
  const before = room()
  await open('a')
  assert.ok(leftBytes !== undefined && leftBytes <= before - VOLUME_BYTES + MIB, `${leftBytes}`)
  await volumes.keep('wl_a', new Set())
  // The room of the first one is given back by those that keep it.
  const ending = new AbortController()
  const keeping = volumes.keepRoom(ending.signal)
  try {
    await until(() => room() > before - MIB)
    const restore = await lockFile(lock, undefined, { read: true })
    const opened = open('b')
    opened.catch(() => undefined)
    await pause(100)
    const others = openSync(join(disk, 'others'), 'w')
    while (room() > VOLUME_BYTES / 2) writeSync(others, Buffer.alloc(MIB))
    await restore.release()
    await assert.rejects(opened, { code: 'workload_failed', message: /the node has \d+ MB/ })
  } finally {
    ending.abort()
    await keeping
  }
})
