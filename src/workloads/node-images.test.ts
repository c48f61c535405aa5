// Images on a disk of their own: what is removed beside work that needs them.
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { quiet } from '#postgres/testing.ts'
import type { Queryable } from '#state/connect.ts'
import { createNodeImages } from './node-images.ts'
import { pulledOf } from './pulled.ts'
import type { WorkloadVersion } from './read-version.ts'
import { CONFIG, driverOf, signal } from './workloads.fixture.ts'

const NONE: ReadonlySet<string> = new Set()

/** Images of a folder that has so many of them; nothing is pulled here. */
function open(t: TestContext, count: number) {
  const folder = mkdtempSync(join(tmpdir(), 'images-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const roots = Array.from({ length: count }, (_, nth) => join(folder, 'local/roots', `${nth}`))
  for (const root of roots) mkdirSync(root, { recursive: true })
  const images = createNodeImages({ folder } as Parameters<typeof createNodeImages>[0])
  return { ...images, left: () => roots.filter((root) => existsSync(root)).length }
}

test('images stay until the digest of a pulled one is in the state', async (t) => {
  const { prune, keepImages, left } = open(t, 1)
  const leftAtWrite: number[] = []
  const state = {
    async query() {
      await prune(NONE)
      leftAtWrite.push(left())
      return { rows: [] }
    },
  } as unknown as Queryable
  const pull = async () => ({ digest: 'sha256:0', config: CONFIG })
  const driver = { ...driverOf([]), pull, keepImages }
  const version = { id: 'wl_a', version: 1, image: 'one', digest: null, config: null }
  await pulledOf({ state, log: quiet, driver }, version as WorkloadVersion, signal)
  assert.deepEqual(leftAtWrite, [1])
  await prune(NONE)
  assert.equal(left(), 0)
})

test('the removal of images ends before the next one when a pull begins, which waits for that', async (t) => {
  const { prune, keepImages, left } = open(t, 50)
  const pruned = prune(NONE)
  while (left() === 50) await new Promise(setImmediate)
  const before = await keepImages(async () => {
    const atFirst = left()
    await pruned
    assert.equal(left(), atFirst)
    return atFirst
  })
  assert.ok(before > 0 && before < 50)
  await prune(NONE)
  assert.equal(left(), 0)
})
