// The room of the disk that volumes are promised.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { lockFile } from '#base/lock.ts'
import { promiseRoomOf } from '#base/tenant-room.ts'
import { VOLUMES_WAIT } from '#contract/resources/passing-reasons.ts'
import type { KeptRoom } from './kept-room.ts'
import { createNodeVolumes } from './node-volumes.ts'
import { toolMsOf } from './volume-images.ts'

// More than a disk has.
const BYTES = 4096 * 1e9
const NO_LOCK = '/nowhere'
/** Nobody ends these waits. */
const WAIT = { signal: new AbortController().signal, waits: () => undefined }
/** Room is promised here, and its blocks are not taken. */
const NOTHING_KEPT: KeptRoom = {
  bytes: 0,
  keep: async () => true,
  promise: async (make) => void (await make()),
  close: async () => undefined,
}

test('room that a file has is not asked for again, also where its growth was cut off; others have no room', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-room-'))
  try {
    mkdirSync(join(folder, 'wl_a'))
    const volume = (id: string, bytes: number) => ({ id, name: 'data', path: '/data', bytes })
    const { prepare, lacking } = createNodeVolumes(folder, NO_LOCK, undefined, NOTHING_KEPT)
    for (const name of ['vol_a.img', 'vol_b.img.growing']) {
      writeFileSync(join(folder, 'wl_a', name), '')
      truncateSync(join(folder, 'wl_a', name), BYTES)
    }
    const kept = ['vol_a', 'vol_b'].map((id) => volume(id, BYTES))
    using _ = await prepare({ id: 'wl_a', volumes: kept }, WAIT)
    const asked = [volume('vol_a', BYTES), volume('vol_b', BYTES + 4096), volume('vol_c', 4096)]
    assert.deepEqual(
      [...(await lacking({ id: 'wl_a', volumes: asked }))],
      [
        ['vol_b', BYTES],
        ['vol_c', 0],
      ],
    )
    const refused = { code: 'workload_failed', message: /the node has 0 MB for volumes/ }
    for (const more of [volume('vol_a', BYTES + 4096), volume('vol_c', 4096)])
      await assert.rejects(prepare({ id: 'wl_a', volumes: [more] }, WAIT), refused)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a slow check of a volume holds up neither others nor the room that it was promised', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-slow-'))
  try {
    const volume = (id: string, bytes: number) => ({ id, name: 'data', path: '/data', bytes })
    const begun: string[] = []
    const goOn = Promise.withResolvers<void>()
    const make = async (path: string) => void begun.push(`make ${path.slice(-9, -4)}`)
    const grow = async (path: string) => {
      begun.push(`grow ${path.slice(-9, -4)}`)
      await goOn.promise
    }
    const { open } = createNodeVolumes(folder, NO_LOCK, { make, grow }, NOTHING_KEPT)
    const large = ['vol_a', 'vol_b', 'vol_c', 'vol_d', 'vol_e']
    mkdirSync(join(folder, 'wl_a'))
    for (const id of large) writeFileSync(join(folder, 'wl_a', `${id}.img`), '')
    const share = Math.floor(promiseRoomOf(statfsSync(folder)) / 8)
    const growths = large.map((id) => open({ id: 'wl_a', volumes: [volume(id, share)] }, WAIT))
    const again = open({ id: 'wl_a', volumes: [volume('vol_a', share)] }, WAIT)
    for (let nth = 0; begun.length < 4 && nth < 1000; nth++) await pause(5)
    const small = open({ id: 'wl_b', volumes: [volume('vol_f', 16_000_000)] }, WAIT)
    await Promise.race([small, pause(5000)])
    // Which of them is the fifth depends on the disk.
    const growing = begun.filter((one) => one.startsWith('grow')).length
    assert.deepEqual([growing, begun.at(-1)], [4, 'make vol_f'])
    const more = open({ id: 'wl_b', volumes: [volume('vol_g', 4 * share)] }, WAIT)
    await assert.rejects(Promise.race([more, pause(5000)]), { code: 'workload_failed' })
    goOn.resolve()
    await Promise.all([...growths, again, small])
    assert.equal(begun.length, large.length + 2)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a promise whose room could not be kept takes no room of later volumes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-promise-'))
  try {
    let isBroken = true
    const promise: KeptRoom['promise'] = async (make) => {
      await make()
      if (isBroken) throw new Error('the disk fails')
    }
    const makers = { make: async () => undefined, grow: async () => undefined }
    const { open } = createNodeVolumes(folder, NO_LOCK, makers, { ...NOTHING_KEPT, promise })
    const bytes = Math.floor(promiseRoomOf(statfsSync(folder)) * 0.6)
    const openOne = (id: string) => {
      const volume = { id: `vol_${id}`, name: 'data', path: '/data', bytes }
      return open({ id: `wl_${id}`, volumes: [volume] }, WAIT)
    }
    await assert.rejects(openOne('a'), { message: 'the disk fails' })
    isBroken = false
    await openOne('b')
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('volumes that wait for room and for checks say so, and each wait ends with its signal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-waits-'))
  const lock = join(folder, 'lock')
  writeFileSync(lock, '')
  let isOver = false
  const goOn = Promise.withResolvers<void>()
  try {
    const grow = () => goOn.promise
    const makers = { make: async (path: string) => writeFileSync(path, ''), grow }
    const { open } = createNodeVolumes(join(folder, 'volumes'), lock, makers)
    const volume = (id: string, bytes = 16_000_000) => ({ id, name: 'data', path: '/data', bytes })
    const waiting = (id: string) => {
      const ending = new AbortController()
      const said: (string | null)[] = []
      const waits = (what: string | null) => void said.push(what)
      const wait = { signal: ending.signal, waits }
      const opened = open({ id: `wl_${id}`, volumes: [volume(`vol_${id}`)] }, wait)
      opened.catch(() => undefined)
      // On a busy machine a short wait for room may be told before that for the checks.
      const isSaid = async (what: string) => {
        for (let nth = 0; !said.includes(what) && !isOver; nth++) {
          assert.ok(nth < 2000, said.join())
          await pause(10)
        }
      }
      const ended = async () => {
        ending.abort(new Error(`nobody wants ${id}`))
        return await Promise.race([opened, pause(5000)]).catch((error: Error) => error.message)
      }
      return { opened, isSaid, ended }
    }
    const pull = await lockFile(lock, undefined, { read: true })
    const [first, second, third] = [waiting('a'), waiting('b'), waiting('c')]
    for (const one of [first, second]) await one.isSaid(VOLUMES_WAIT.room)
    // The second one is behind the first one, which waits for the pull.
    assert.equal(await second.ended(), 'nobody wants b')
    assert.equal(await first.ended(), 'nobody wants a')
    await pull.release()
    assert.deepEqual(await Promise.race([third.opened, pause(5000)]), [
      { path: '/data', image: join(folder, 'volumes', 'wl_c', 'vol_c.img') },
    ])
    const growths = ['d', 'e', 'f', 'g', 'h'].map((id) => {
      mkdirSync(join(folder, 'volumes', `wl_${id}`))
      writeFileSync(join(folder, 'volumes', `wl_${id}`, `vol_${id}.img`), '')
      return waiting(id)
    })
    // Which of them is the fifth depends on the disk.
    const said = await Promise.any(
      growths.map((one) => one.isSaid(VOLUMES_WAIT.checks).then(() => one)),
    )
    assert.match(String(await said.ended()), /^nobody wants/)
    goOn.resolve()
    const others = growths.filter((one) => one !== said)
    await Promise.all(others.map(({ opened }) => opened))
  } finally {
    isOver = true
    goOn.resolve()
    rmSync(folder, { recursive: true })
  }
})

test('a wait that is over is told before the volume grows', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-told-'))
  const lock = join(folder, 'lock')
  writeFileSync(lock, '')
  const pull = await lockFile(lock, undefined, { read: true })
  try {
    const said: (string | null)[] = []
    const saidAtGrowth = Promise.withResolvers<(string | null)[]>()
    const grow = async () => saidAtGrowth.resolve([...said])
    const make = async () => assert.fail('it is there')
    const { open } = createNodeVolumes(join(folder, 'volumes'), lock, { make, grow })
    mkdirSync(join(folder, 'volumes', 'wl_a'), { recursive: true })
    writeFileSync(join(folder, 'volumes', 'wl_a', 'vol_a.img'), '')
    const volume = { id: 'vol_a', name: 'data', path: '/data', bytes: 16_000_000 }
    const waits = (what: string | null) => {
      said.push(what)
      if (what !== null) void pull.release()
    }
    await open({ id: 'wl_a', volumes: [volume] }, { ...WAIT, waits })
    assert.deepEqual(await saidAtGrowth.promise, [VOLUMES_WAIT.room, null])
  } finally {
    await pull.release()
    rmSync(folder, { recursive: true })
  }
})

test('an opening that is behind another one of its volume ends with its signal', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-behind-'))
  const goOn = Promise.withResolvers<void>()
  try {
    const begun = Promise.withResolvers<void>()
    const grow = async () => {
      begun.resolve()
      await goOn.promise
    }
    const make = async () => assert.fail('it is there')
    const { open } = createNodeVolumes(folder, NO_LOCK, { make, grow }, NOTHING_KEPT)
    mkdirSync(join(folder, 'wl_a'))
    writeFileSync(join(folder, 'wl_a', 'vol_a.img'), '')
    const volume = { id: 'vol_a', name: 'data', path: '/data', bytes: 16_000_000 }
    const spec = { id: 'wl_a', volumes: [volume] }
    const first = open(spec, WAIT)
    await begun.promise
    const ending = new AbortController()
    const second = open(spec, { ...WAIT, signal: ending.signal })
    second.catch(() => undefined)
    await pause(50)
    ending.abort(new Error('nobody wants it'))
    await assert.rejects(Promise.race([second, pause(5000)]), { message: 'nobody wants it' })
    goOn.resolve()
    await first
  } finally {
    goOn.resolve()
    rmSync(folder, { recursive: true })
  }
})

test('a volume that is whole is opened also after the time of a start, which its growth took', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-grown-'))
  try {
    const ending = new AbortController()
    const makers = {
      async make(path: string, bytes: number) {
        ending.abort(new Error('late'))
        writeFileSync(path, '')
        truncateSync(path, bytes)
      },
      grow: () => assert.fail('it is whole'),
    }
    const { open } = createNodeVolumes(folder, NO_LOCK, makers, NOTHING_KEPT)
    const wait = { signal: ending.signal, waits: () => undefined }
    const volume = (id: string) => ({ id, name: 'data', path: '/data', bytes: 4_096_000 })
    const first = { id: 'wl_a', volumes: [volume('vol_a')] }
    const opened = await open(first, wait)
    assert.deepEqual(await open(first, wait), opened)
    const more = open({ id: 'wl_a', volumes: [volume('vol_a'), volume('vol_b')] }, wait)
    await assert.rejects(more, { message: 'late' })
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('a larger file system may be checked for longer', () => {
  assert.ok(toolMsOf(1000e9) >= toolMsOf(16e6) + 1_000_000)
})
