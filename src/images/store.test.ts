import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openLayout } from './layout-source.ts'
import type { DiskRoom } from '#base/disk-room.ts'
import { inodeBytesOf } from '#base/tenant-room.ts'
import type { LocalReference } from './reference.ts'
import { createImageStore, type ImageStore } from './store.ts'
import { layerOf, writeLayout } from './testing.ts'

const home = mkdtempSync(join(tmpdir(), 'ergon-images-'))
after(() => rmSync(home, { recursive: true }))
const { signal } = new AbortController()
let count = 0
const newFolder = (): string => {
  const folder = join(home, String(count++))
  mkdirSync(folder)
  return folder
}

/** A disk without a limit. */
const ROOM: DiskRoom = {
  reserve: async () => true,
  wrote: () => undefined,
  give: async () => undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
}

function newStore(
  bytesMax = 10_000_000,
  roomBytes = Number.MAX_SAFE_INTEGER,
): { readonly store: ImageStore; readonly work: string } {
  const folder = newFolder()
  let left = roomBytes
  const reserve = async (bytes: number) => left >= 0 && (left -= bytes) >= 0
  const room = { ...ROOM, reserve }
  const limits = { scratch: newFolder(), bytesMax, room }
  const open = (reference: object, ending: AbortSignal) =>
    openLayout(reference as LocalReference, limits, ending)
  const work = join(folder, 'pulls', 'one')
  return { store: createImageStore({ folder, work, open, bytesMax, room }), work }
}

const layers = [
  await layerOf([{ name: 'app/main.js', text: 'first' }]),
  await layerOf([{ name: 'app/main.js', text: 'second' }]),
]
const CONFIG = {
  Entrypoint: ['/bin/app'],
  Cmd: ['--port', '80'],
  Env: ['A=b'],
  WorkingDir: '/app',
  ExposedPorts: { '8080/tcp': {}, '53/udp': {}, '80': {} },
}

test('an image of a layout is unpacked once, and its configuration is read', async () => {
  const layout = newFolder()
  const digest = writeLayout(layout, { layers, config: CONFIG })
  const { store, work } = newStore()
  const told: number[] = []
  const image = await store.pull(`oci:${layout}:v1`, signal, ({ doneBytes }) =>
    told.push(doneBytes),
  )
  assert.equal(image.digest, digest)
  assert.equal(readFileSync(join(image.root, 'app/main.js'), 'utf8'), 'second')
  const { diffIds, ...config } = image.config
  assert.equal(diffIds.length, 2)
  assert.deepEqual(config, {
    command: ['--port', '80'],
    entrypoint: ['/bin/app'],
    env: ['A=b'],
    folder: '/app',
    ports: [80, 8080],
    stopSignal: 'SIGTERM',
  })
  assert.equal(told.length, 2)
  rmSync(join(layout, 'blobs'), { recursive: true })
  writeLayout(layout, { layers, config: CONFIG })
  const again = await store.pull(`oci:${layout}`, signal)
  assert.deepEqual([again.root, again.bytes > 0], [image.root, true])
  // The other files of a pull go with its end.
  assert.deepEqual(readdirSync(work), ['whole'])
})

test('the tar of a layout is read too', async () => {
  const layout = newFolder()
  writeLayout(layout, { layers, config: CONFIG })
  const archive = join(newFolder(), 'image.tar')
  execFileSync('tar', ['-cf', archive, '-C', layout, '.'])
  const image = await newStore().store.pull(`oci:${archive}`, signal)
  assert.equal(readFileSync(join(image.root, 'app/main.js'), 'utf8'), 'second')
})

test('an image of a file that is absent says what is there', async () => {
  const folder = newFolder()
  writeLayout(folder, { layers: [] })
  const absent = [
    [`oci:${home}/nowhere:v1`, 'there is no such file or folder'],
    [`oci:${folder}:v2`, 'it has the tag "v1"'],
  ] as const
  for (const [name, why] of absent)
    await assert.rejects(newStore().store.pull(name, signal), {
      code: 'image_not_found',
      message: `Could not find the image ${name}: ${why}`,
    })
})

test('an image that is damaged, absent, foreign or too large is refused, and leaves no root', async () => {
  const damaged = newFolder()
  writeLayout(damaged, { layers })
  for (const name of readdirSync(join(damaged, 'blobs/sha256'))) {
    const path = join(damaged, 'blobs/sha256', name)
    const bytes = readFileSync(path)
    if (bytes[0] === 0x1f)
      writeFileSync(
        path,
        Buffer.concat([bytes.subarray(0, -1), Buffer.of((bytes.at(-1) ?? 0) ^ 1)]),
      )
  }
  const short = newFolder()
  writeLayout(short, { layers })
  for (const name of readdirSync(join(short, 'blobs/sha256'))) {
    const path = join(short, 'blobs/sha256', name)
    if (readFileSync(path)[0] === 0x1f) truncateSync(path, 20)
  }
  const foreign = newFolder()
  writeLayout(foreign, { layers, architecture: 'riscv64' })
  const odd = [
    { Cmd: ['a\0b'] },
    { Entrypoint: ['\ud800'] },
    { Env: ['A=\0'] },
    { Env: ['=b'] },
    { WorkingDir: '/a\0' },
    { StopSignal: '\udc00' },
  ].map((config) => {
    const folder = newFolder()
    writeLayout(folder, { layers, config })
    return [`oci:${folder}`, 'image_unsupported'] satisfies [string, string]
  })
  const plain = newFolder()
  writeFileSync(join(plain, 'index.json'), '{"manifests": 1}')
  const cases: readonly (readonly [string, string])[] = [
    [`oci:${damaged}`, 'image_damaged'],
    [`oci:${short}`, 'image_damaged'],
    [`oci:${foreign}`, 'image_unsupported'],
    [`oci:${plain}`, 'image_unsupported'],
    ...odd,
    [`oci:${home}/nowhere`, 'image_not_found'],
    [`docker-archive:${plain}`, 'image_unsupported'],
    [`docker-archive:${plain}/index.json`, 'image_unsupported'],
  ]
  for (const [name, code] of cases) {
    const { store, work } = newStore()
    await assert.rejects(store.pull(name, signal), { code }, name)
    assert.deepEqual(readdirSync(join(work, 'whole')), [], name)
  }
  const large = newFolder()
  writeLayout(large, { layers: [await layerOf([{ name: 'zeros', text: '\0'.repeat(200_000) }])] })
  await assert.rejects(newStore(100_000).store.pull(`oci:${large}`, signal), {
    code: 'image_too_large',
  })
})

test('files that an interrupted pull left behind are used or replaced', async () => {
  const layout = newFolder()
  writeLayout(layout, { layers })
  const { store, work } = newStore()
  mkdirSync(join(work, 'root'), { recursive: true })
  writeFileSync(join(work, 'root', 'left'), 'by a crash')
  mkdirSync(join(work, 'blobs'))
  for (const name of readdirSync(join(layout, 'blobs/sha256')))
    writeFileSync(
      join(work, 'blobs', `${name}.part`),
      readFileSync(join(layout, 'blobs/sha256', name)).subarray(0, 30),
    )
  const image = await store.pull(`oci:${layout}`, signal)
  assert.deepEqual(readdirSync(image.root), ['app'])
  const stopped = newStore()
  await assert.rejects(
    stopped.store.pull(`oci:${layout}`, AbortSignal.abort(new RangeError('stopped'))),
  )
})

test('an image that the disk has no room for is refused, packed or unpacked, and leaves no root', async () => {
  const layout = newFolder()
  const zeros = await layerOf([{ name: 'zeros', text: '0'.repeat(1_000_000) }])
  writeLayout(layout, { layers: [zeros], config: CONFIG })
  for (const roomBytes of [-1, 100, 500_000]) {
    const { store, work } = newStore(10_000_000, roomBytes)
    await assert.rejects(store.pull(`oci:${layout}:v1`, signal), {
      code: 'workload_failed',
      message: /the disk of the node has no room for it/,
    })
    assert.deepEqual(readdirSync(join(work, 'whole')), [])
  }
})

test('the files of an archive have their room reserved before the first of them is written', async () => {
  const layout = newFolder()
  const large = await layerOf([{ name: 'large', text: randomBytes(300_000).toString('base64') }])
  writeLayout(layout, { layers: [large], config: CONFIG })
  const archive = join(newFolder(), 'image.tar')
  execFileSync('tar', ['-cf', archive, '-C', layout, '.'])
  const { size } = statSync(archive)
  const scratch = newFolder()
  const asked: (readonly [bytes: number, files: number, heldBytes: number])[] = []
  let heldBytes = 0
  let hasRoom = false
  const room: DiskRoom = {
    ...ROOM,
    async reserve(bytes) {
      asked.push([bytes, readdirSync(scratch).length, heldBytes])
      heldBytes = hasRoom ? heldBytes + bytes : 0
      return hasRoom
    },
    wrote: (bytes) => void (heldBytes -= bytes),
  }
  const pull = async () => {
    const limits = { scratch, bytesMax: 10_000_000, room }
    const open = (reference: object, ending: AbortSignal) =>
      openLayout(reference as LocalReference, limits, ending)
    return await storeIn(newFolder(), { room, open }).pull(`oci:${archive}:v1`, signal)
  }
  await assert.rejects(pull(), {
    code: 'workload_failed',
    message: `Could not pull "oci:${archive}:v1": the disk of the node has no room for it`,
  })
  hasRoom = true
  await pull()
  // The room is given back as the files come, before that for the layers is reserved.
  assert.deepEqual(asked.slice(0, 2), [
    [size, 0, 0],
    [size, 0, 0],
  ])
  assert.deepEqual(asked[2]?.slice(1), [1, 0])
})

test('a pull that goes on reserves room for the bytes that are missing alone', async () => {
  const layout = newFolder()
  // Without a pattern, so that it is about as large when it is packed.
  const large = await layerOf([{ name: 'large', text: randomBytes(300_000).toString('base64') }])
  writeLayout(layout, { layers: [large, ...layers], config: CONFIG })
  const asked: number[] = []
  const work = newFolder()
  const reserve = async (bytes: number) => asked.push(bytes) > 0
  const store = storeIn(newFolder(), { work, room: { ...ROOM, reserve } })
  mkdirSync(join(work, 'blobs'))
  let hasBytes = 0
  for (const name of readdirSync(join(layout, 'blobs/sha256'))) {
    const blob = readFileSync(join(layout, 'blobs/sha256', name))
    if (blob.length < 250_000) continue
    hasBytes = blob.length - 1
    writeFileSync(join(work, 'blobs', `${name}.part`), blob.subarray(0, hasBytes))
  }
  assert.ok(hasBytes > 0)
  await store.pull(`oci:${layout}`, signal)
  assert.ok(Number(asked[0]) > 0 && Number(asked[0]) < 1000, String(asked[0]))
})

test('an image whose layers are beyond the quota of its account is refused before they are fetched', async () => {
  const layout = newFolder()
  const random = await layerOf([{ name: 'random', text: randomBytes(30_000).toString('base64') }])
  writeLayout(layout, { layers: [random] })
  const work = newFolder()
  const store = storeIn(newFolder(), { work, quotaBytes: 20_000 })
  await assert.rejects(store.pull(`oci:${layout}`, signal), { code: 'image_quota_exceeded' })
  const large = readdirSync(join(work, 'blobs')).filter(
    (name) => statSync(join(work, 'blobs', name)).size > 20_000,
  )
  assert.deepEqual(large, [])
})

/** A store of one folder, for another pull beside others. */
function storeIn(
  folder: string,
  more: Partial<Parameters<typeof createImageStore>[0]> = {},
): ImageStore {
  const limits = { scratch: newFolder(), bytesMax: 10_000_000, room: ROOM }
  return createImageStore({
    folder,
    work: join(newFolder(), 'pull'),
    open: (reference, ending) => openLayout(reference as LocalReference, limits, ending),
    room: ROOM,
    ...more,
  })
}

test('an image of too many layers is refused with their number', async () => {
  const layout = newFolder()
  writeLayout(layout, { layers: Array.from({ length: 129 }, () => Buffer.alloc(0)) })
  await assert.rejects(storeIn(newFolder()).pull(`oci:${layout}`, signal), {
    code: 'image_unsupported',
    message: /it has more than 128 layers/,
  })
})

test('an image beyond the quota of its account is refused while it is unpacked', async () => {
  const layout = newFolder()
  const zeros = await layerOf([{ name: 'zeros', text: '0'.repeat(3_000_000) }])
  writeLayout(layout, { layers: [zeros], config: CONFIG })
  const work = newFolder()
  const store = storeIn(newFolder(), { work, quotaBytes: 2_000_000 })
  await assert.rejects(store.pull(`oci:${layout}`, signal), {
    code: 'image_quota_exceeded',
    message: /the images of the account may have 2 MB more/,
  })
  assert.deepEqual(readdirSync(join(work, 'whole')), [])
})

/** A layer of so many files without a byte, and what they take of this disk. */
async function emptyFiles(count: number) {
  const names = Array.from({ length: count }, (_, nth) => ({ name: `f${nth}` }))
  return {
    layers: [await layerOf(names)],
    bytes: (count + 1) * inodeBytesOf(statfsSync(home)),
  }
}

test('an image has its part of the inodes of the disk, where that is more than its blocks', async () => {
  const layout = newFolder()
  const files = await emptyFiles(500)
  writeLayout(layout, files)
  const image = await storeIn(newFolder()).pull(`oci:${layout}`, signal)
  assert.equal(image.bytes, files.bytes)
})

test('an image of more empty files than the quota has room for is refused while it is unpacked', async () => {
  const layout = newFolder()
  const { layers: many, bytes } = await emptyFiles(500)
  writeLayout(layout, { layers: many })
  const work = newFolder()
  // The archive has 1 kB for each of them.
  const quotaBytes = Math.max(600_000, Math.floor(bytes / 2))
  const store = storeIn(newFolder(), { work, quotaBytes })
  const pulled = store.pull(`oci:${layout}`, signal)
  if (bytes < quotaBytes) return void (await pulled)
  await assert.rejects(pulled, { code: 'image_quota_exceeded' })
  assert.deepEqual(readdirSync(join(work, 'whole')), [])
})

test('the part of the inodes is reserved while files are made', async () => {
  const layout = newFolder()
  const { layers: many, bytes } = await emptyFiles(4000)
  writeLayout(layout, { layers: many })
  let reservedBytes = 0
  // fallocate(1) takes whole bytes.
  const reserve = async (more: number) => Number.isInteger(more) && (reservedBytes += more) > 0
  await storeIn(newFolder(), { room: { ...ROOM, reserve } }).pull(`oci:${layout}`, signal)
  // The files at the end have no chunk behind them.
  assert.ok(reservedBytes > bytes * 0.8, `${reservedBytes} of ${bytes}`)
})
