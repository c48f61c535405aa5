// Blobs move to another store: all, once, and whole, whatever fails, stops or is deleted meanwhile.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import type { BlobStore } from '#blobs/blob.ts'
import { createBlobStores } from '#blobs/stores.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { brokenRules, makeBucket, type Store } from '#objects/store.fixture.ts'
import { collectGarbage } from './collect-garbage.ts'
import { beginMove, loadMove, stopMove } from './move-order.ts'
import { moveAsOrdered } from './mover.ts'
import { withBlobs } from './upkeep.fixture.ts'

const skip = whyNoState()
const { signal } = new AbortController()
let store: Store
let one: BlobStore
let two: BlobStore
const { fileOf, putObject, readObject, remove, stores } = withBlobs(
  (opened) => ({ store, one, two } = opened),
)

const deps = () => ({ state: store.state, stores: stores(), clock: systemClock })
const moveTo = async (to: string) => {
  await beginMove(store.state, to)
  await moveAsOrdered(deps(), signal)
  const order = await loadMove(store.state)
  return [order?.state, order?.moved, order?.damaged.map(({ id }) => id)]
}

test(
  'moveAsOrdered() copies, compares and changes the rows, there and back',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'moved')
    const bodies = Array.from({ length: 70 }, (_, n) => randomBytes(n * 1000))
    for (const [n, body] of bodies.entries()) await putObject(bucket, `k${n}`, body)
    assert.deepEqual(await moveTo('two'), ['done', 70, []])
    const readAll = async () => {
      for (const [n, body] of bodies.entries())
        assert.deepEqual(await readObject(bucket, `k${n}`), body)
    }
    await readAll()
    // Back again before the old copies were collected: they are no garbage then.
    assert.deepEqual(await moveTo('one'), ['done', 70, []])
    for (const [garbage, of] of [
      [0, one],
      [70, two],
    ] as const) {
      const all = { limit: 100, signal, graceMs: -1000 }
      assert.equal(await collectGarbage({ state: store.state, store: of }, all), garbage)
    }
    await readAll()
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test('moveAsOrdered() leaves what is damaged, says so, and moves the rest', { skip }, async () => {
  const bucket = await makeBucket(store, 'damaged')
  const [changed, short, missing] = [
    await putObject(bucket, 'changed', randomBytes(1000)),
    await putObject(bucket, 'short', randomBytes(1000)),
    await putObject(bucket, 'missing', randomBytes(1000)),
  ]
  await putObject(bucket, 'whole', randomBytes(1000))
  writeFileSync(fileOf(changed), randomBytes(1000))
  writeFileSync(fileOf(short), randomBytes(999))
  rmSync(fileOf(missing))
  const damaged = [changed.id, short.id, missing.id].toSorted()
  const [state, moved, found] = await moveTo('two')
  assert.deepEqual([state, moved, (found as string[]).toSorted()], ['done', 1, damaged])
  for (const id of damaged) assert.equal(await two.stat(id, signal), undefined)
  assert.equal((await readObject(bucket, 'whole')).length, 1000)
  assert.deepEqual(await brokenRules(store.state), [])
})

test(
  'moveAsOrdered() goes on after a failure, and stops when it is told to',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'interrupted')
    for (let n = 0; n < 9; n++) await putObject(bucket, `k${n}`, randomBytes(1000))
    let left = 6
    const failing: BlobStore = {
      ...two,
      put: (body, options) =>
        left-- > 0 ? two.put(body, options) : Promise.reject(new RangeError('the line is cut')),
    }
    const cut = { ...deps(), stores: createBlobStores([one, failing]) }
    await beginMove(store.state, 'two')
    await assert.rejects(moveAsOrdered(cut, signal), RangeError)
    const waiting = await loadMove(store.state)
    assert.deepEqual([waiting?.state, waiting?.failure], ['moving', 'the line is cut'])
    assert.equal(await stopMove(store.state), true)
    assert.equal(await moveAsOrdered(deps(), signal), false)
    const at = "select count(*)::int as n from blobs where location = 'two'"
    const [{ n = 0 } = {}] = (await store.state.query<{ n: number }>(at)).rows
    // Of six that arrived three may have been given up with the one that failed.
    assert.ok(n >= 3 && n <= 6 && n === waiting?.moved, `${n} are moved`)
    assert.deepEqual(await moveTo('two'), ['done', 9 - n, []])
    assert.deepEqual(await brokenRules(store.state), [])
  },
)

test('moveAsOrdered() stops in the middle when it is told to', { skip }, async () => {
  const bucket = await makeBucket(store, 'stopped')
  for (let n = 0; n < 70; n++) await putObject(bucket, `k${n}`, Buffer.from('x'))
  const stopping: BlobStore = {
    ...two,
    async put(body, options) {
      await stopMove(store.state)
      return await two.put(body, options)
    },
  }
  await beginMove(store.state, 'two')
  await moveAsOrdered({ ...deps(), stores: createBlobStores([one, stopping]) }, signal)
  const { rows } = await store.state.query("select from blobs where location = 'one'")
  assert.ok(rows.length > 0)
  assert.equal((await loadMove(store.state))?.state, 'stopped')
  assert.deepEqual(await moveTo('two'), ['done', rows.length, []])
})

test('moveAsOrdered() changes no row when other bytes arrived', { skip }, async () => {
  const bucket = await makeBucket(store, 'garbled')
  const bytes = randomBytes(1000)
  await putObject(bucket, 'k', bytes)
  const garbling: BlobStore = {
    ...two,
    async put(body, options) {
      const blob = await two.put(body, options)
      writeFileSync(fileOf(blob), randomBytes(1000))
      return blob
    },
  }
  await beginMove(store.state, 'two')
  const garbled = { ...deps(), stores: createBlobStores([one, garbling]) }
  await assert.rejects(moveAsOrdered(garbled, signal), { code: 'blob_damaged' })
  assert.deepEqual(await readObject(bucket, 'k'), bytes)
  const { rows } = await store.state.query('select location from blobs')
  assert.deepEqual(rows, [{ location: 'one' }])
})

test('two movers do not work at once', { skip }, async () => {
  const bucket = await makeBucket(store, 'twice')
  for (let n = 0; n < 9; n++) await putObject(bucket, `k${n}`, randomBytes(1000))
  let other: Promise<boolean> | undefined
  let puts = 0
  const counting: BlobStore = {
    ...two,
    async put(body, options) {
      puts++
      // The second mover is here while the first one holds its first blobs.
      if (other === undefined) {
        other = moveAsOrdered({ ...deps(), stores: createBlobStores([one, counting]) }, signal)
        await other
      }
      return await two.put(body, options)
    },
  }
  await beginMove(store.state, 'two')
  await moveAsOrdered({ ...deps(), stores: createBlobStores([one, counting]) }, signal)
  const order = await loadMove(store.state)
  assert.deepEqual([order?.state, order?.moved, puts], ['done', 9, 9])
  assert.equal(await other, true, 'it looks again soon, as the first one may end')
  assert.deepEqual(await brokenRules(store.state), [])
})

test(
  'a blob that is deleted while it is moved leaves two copies to collect',
  { skip },
  async () => {
    const bucket = await makeBucket(store, 'deleted')
    const { id } = await putObject(bucket, 'k', randomBytes(1000))
    const deleting: BlobStore = {
      ...two,
      async put(body, options) {
        await remove(bucket, 'k')
        return await two.put(body, options)
      },
    }
    await beginMove(store.state, 'two')
    await moveAsOrdered({ ...deps(), stores: createBlobStores([one, deleting]) }, signal)
    const { rows } = await store.state.query('select location, id from blob_garbage order by 1')
    assert.deepEqual(rows, [
      { location: 'one', id },
      { location: 'two', id },
    ])
    assert.deepEqual(await brokenRules(store.state), [])
  },
)
