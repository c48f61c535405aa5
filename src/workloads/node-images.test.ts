// Images on a disk of their own: what is removed beside work that needs them.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { fault } from '#contract/errors.ts'
import { openLayout } from '#images/layout-source.ts'
import type { LocalReference } from '#images/reference.ts'
import { createImageStore } from '#images/store.ts'
import { layerOf, writeLayout } from '#images/testing.ts'
import { quiet } from '#postgres/testing.ts'
import { createTrials } from '#resources/trials.ts'
import type { Queryable } from '#state/connect.ts'
import { pullCellOf } from './cell-name.ts'
import type { WorkloadPull } from './driver.ts'
import { imageFolderOf, imageWordOf } from './image-place.ts'
import { createNodeImages } from './node-images.ts'
import { pulledOf } from './pulled.ts'
import type { WorkloadVersion } from './read-version.ts'
import { CONFIG, driverOf, signal } from './workloads.fixture.ts'

/** A disk without a limit. */
const ROOM = {
  reserve: async () => true,
  wrote: () => undefined,
  give: async () => undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
}
const none = async (): Promise<ReadonlySet<string>> => new Set()
const IMAGE = { image: 'one', digest: 'sha256:0' }
const WANTED = { id: 'wl_a', account: 'acct_a', version: 1, image: 'one', roomBytes: 1 }
const progress = () => undefined

/** Images of one repository that has so many of them; the first of them is what a pull finds. */
function open(t: TestContext, count: number, pulling: () => Promise<unknown> = none) {
  const folder = mkdtempSync(join(tmpdir(), 'images-'))
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }))
  const place = imageFolderOf(folder, 'one')
  const roots = Array.from({ length: count }, (_, nth) => join(place, 'roots', `${nth}`))
  for (const root of roots) mkdirSync(root, { recursive: true })
  const work = join(place, 'pulls', pullCellOf(WANTED))
  const pull = async () => {
    mkdirSync(work, { recursive: true })
    await pulling()
    return { digest: 'sha256:0', config: CONFIG, bytes: 1 }
  }
  const images = createNodeImages({ folder, pull } as never)
  const left = () => roots.filter((root) => existsSync(root)).length
  return { ...images, folder, work, left }
}

test('images stay until the digest of a pulled one is in the state', async (t) => {
  const { prune, pull, left } = open(t, 1)
  const leftAtWrite: number[] = []
  const state = {
    async query() {
      await prune(none)
      leftAtWrite.push(left())
      return { rows: [] }
    },
  } as unknown as Queryable
  const driver = { ...driverOf([]), pull }
  const version = { id: 'wl_a', version: 1, image: 'one', digest: null, config: null }
  // The first question is how much room the account has, before the pull.
  const first = { ...state, query: async () => ({ rows: [] }) } as unknown as Queryable
  let asked = 0
  const query = (...given: Parameters<Queryable['query']>) =>
    (asked++ === 0 ? first : state).query(...given)
  const instances = { running: () => [], stop: async () => undefined }
  const deps = {
    state: { query } as Queryable,
    log: quiet,
    driver,
    imageBytesMax: 1,
    instances,
    pulls: createTrials(),
  }
  await pulledOf(deps, version as WorkloadVersion, signal)
  assert.deepEqual(leftAtWrite, [1])
  await prune(none)
  assert.equal(left(), 0)
})

test('a pull that goes on delays no removal of other images, and keeps its own files', async (t) => {
  const ends = Promise.withResolvers<void>()
  const { prune, pull, left, work } = open(t, 3, () => ends.promise)
  const pulled = pull(WANTED, progress, signal)
  while (!existsSync(work)) await pause(1)
  await prune(async () => new Set([imageWordOf(IMAGE)]))
  assert.deepEqual([left(), existsSync(work)], [1, true])
  ends.resolve()
  assert.equal((await pulled).digest, 'sha256:0')
  assert.deepEqual([left(), existsSync(work)], [1, false])
})

test('an image that got its version after a removal has read the state is not removed by it', async (t) => {
  const { prune, pull, left } = open(t, 2)
  await prune(async () => {
    const read = await none()
    ;(await pull(WANTED, progress, signal))[Symbol.dispose]()
    return read
  })
  assert.equal(left(), 1)
  await prune(none)
  assert.equal(left(), 0)
})

test('an image that is removed while it is pulled is pulled again, and so often at most', async (t) => {
  let pulls = 0
  const { pull } = open(t, 0, async () => pulls++)
  await assert.rejects(pull(WANTED, progress, signal), { code: 'internal' })
  assert.equal(pulls, 3)
})

/** Pulls that a registry breaks off, or that end with another fault; the folders that they have left. */
function openBroken(t: TestContext, leftMs?: number) {
  const folder = mkdtempSync(join(tmpdir(), 'images-'))
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 }))
  const pulls = join(imageFolderOf(folder, 'one'), 'pulls')
  let code: Parameters<typeof fault>[0] = 'registry_unreachable'
  const pull = async (_: unknown, wanted: WorkloadPull) => {
    mkdirSync(join(pulls, pullCellOf(wanted)), { recursive: true })
    throw fault(code, 'It breaks off')
  }
  const images = createNodeImages({ folder, pull, leftMs } as never)
  return {
    ...images,
    left: () => readdirSync(pulls).toSorted(),
    async fail(wanted: Partial<WorkloadPull>, ends = code) {
      code = ends
      await assert.rejects(images.pull({ ...WANTED, ...wanted }, progress, signal), { code })
    },
  }
}

test('the files of a broken-off pull stay for the next one, and no other pull of the account has some', async (t) => {
  const { fail, prune, left } = openBroken(t)
  await fail({ id: 'wl_a' })
  await fail({ id: 'wl_b', account: 'acct_b' })
  await prune(none)
  assert.deepEqual(left(), ['wl-a-1-pull', 'wl-b-1-pull'])
  await fail({ id: 'wl_c' })
  assert.deepEqual(left(), ['wl-b-1-pull', 'wl-c-1-pull'])
  // Another try finds the same fault: the files are of no use.
  await fail({ id: 'wl_c' }, 'image_damaged')
  assert.deepEqual(left(), ['wl-b-1-pull'])
})

test('the files of a broken-off pull go after their time, though nothing is removed', async (t) => {
  const { fail, left } = openBroken(t, 30)
  await fail({})
  assert.deepEqual(left(), ['wl-a-1-pull'])
  for (let turns = 0; left().length > 0 && turns < 1000; turns++) await pause(5)
  assert.deepEqual(left(), [])
})

/** Pulls of one image in a file, which the store unpacks; `made` is awaited when the root is there. */
async function openStore(t: TestContext, made: () => Promise<unknown>) {
  const home = mkdtempSync(join(tmpdir(), 'images-'))
  t.after(() => rmSync(home, { recursive: true, maxRetries: 5 }))
  const folder = join(home, 'images')
  const layout = join(home, 'layout')
  writeLayout(layout, { layers: [await layerOf([{ name: 'app', text: 'hello' }])] })
  const image = `oci:${layout}`
  const pulls: string[] = []
  const pull = async (_: unknown, wanted: WorkloadPull) => {
    pulls.push(wanted.id)
    const place = imageFolderOf(folder, image)
    const store = createImageStore({
      folder: place,
      work: join(place, 'pulls', pullCellOf(wanted)),
      open: (reference, ending) =>
        openLayout(
          reference as LocalReference,
          { scratch: home, bytesMax: 1_000_000, room: ROOM },
          ending,
        ),
      room: ROOM,
    })
    const pulled = await store.pull(image, signal)
    await made()
    return pulled
  }
  return { ...createNodeImages({ folder, pull } as never), folder, image, pulls }
}

test('an image that is unpacked is not removed before its pull has told so', async (t) => {
  const { image, pulls, ...images } = await openStore(t, () => images.prune(none))
  const pulled = await images.pull({ ...WANTED, image }, progress, signal)
  assert.deepEqual([pulls.length, images.has({ image, digest: pulled.digest })], [1, true])
  const place = imageFolderOf(images.folder, image)
  assert.deepEqual(readdirSync(join(place, 'pulls')), [])
})

test('two pulls of an image at once leave one root folder, whole', async (t) => {
  const both = Promise.withResolvers<void>()
  const { image, pulls, ...images } = await openStore(t, async () => {
    if (pulls.length === 2) both.resolve()
    await both.promise
  })
  const pulledBy = (id: string) => images.pull({ ...WANTED, id, image }, progress, signal)
  const [{ digest }] = await Promise.all([pulledBy('wl_a'), pulledBy('wl_b')])
  const root = images.rootOf({ image, digest })
  assert.deepEqual(readdirSync(join(root, '..')), [basename(root)])
  assert.equal(readFileSync(join(root, 'app'), 'utf8'), 'hello')
})

test('the files of removed images are removed by a child, those of an earlier agent too', async (t) => {
  const { prune, folder } = open(t, 20)
  mkdirSync(join(folder, '.removed', 'left', 'by', 'a', 'kill'), { recursive: true })
  await prune(none)
  while (readdirSync(join(folder, '.removed')).length > 0) await pause(5)
})

test('the root folder of an image that is refused for its bytes goes at once', async (t) => {
  const { image, ...images } = await openStore(t, none)
  const keptAtWrite: number[] = []
  const roots = join(imageFolderOf(images.folder, image), 'roots')
  const state = {
    async query(text: string) {
      if (!text.includes('keep_image')) return { rows: [] }
      keptAtWrite.push(readdirSync(roots).length)
      return { rows: [{ others: '1' }] }
    },
  } as unknown as Queryable
  const driver = { ...driverOf([]), ...images }
  const version = { id: 'wl_a', account: 'acct_a', version: 1, image, digest: null, config: null }
  const instances = { running: () => [], stop: async () => undefined }
  const deps = { state, log: quiet, driver, imageBytesMax: 1, instances, pulls: createTrials() }
  await assert.rejects(pulledOf(deps, version as WorkloadVersion, signal), {
    code: 'image_quota_exceeded',
  })
  assert.deepEqual([keptAtWrite[0], existsSync(roots) ? readdirSync(roots) : []], [1, []])
})

test('the folder of a repository goes with its last image, and stays for a pull', async (t) => {
  const ends = Promise.withResolvers<void>()
  const { prune, pull, folder, work } = open(t, 1, () => ends.promise)
  const place = imageFolderOf(folder, 'one')
  const pulled = pull(WANTED, progress, signal)
  while (!existsSync(work)) await pause(1)
  rmSync(work, { recursive: true })
  rmSync(join(place, 'roots'), { recursive: true })
  await prune(none)
  assert.ok(existsSync(place), 'the folder of a pull')
  mkdirSync(join(place, 'roots', '0'), { recursive: true })
  ends.resolve()
  ;(await pulled)[Symbol.dispose]()
  await prune(async () => new Set([imageWordOf(IMAGE)]))
  assert.ok(existsSync(place))
  await prune(none)
  assert.ok(!existsSync(place), 'nobody has an image of it')
})
