// The pieces of a round of cleaning: garbage and orphans go, and what is damaged is found.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { SHARDS, type BlobStore } from '#blobs/blob.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { makeBucket, type Store } from '#storage/objects/store.fixture.ts'
import { collectGarbage } from './collect-garbage.ts'
import { savePlace } from './place.ts'
import { scrub } from './scrub.ts'
import { sweepOrphans } from './sweep-orphans.ts'
import { later, withBlobs } from './upkeep.fixture.ts'

const skip = whyNoState()
const { signal } = new AbortController()
const DAY_MS = 86_400_000
let store: Store
let one: BlobStore
const { fileOf, putBlob, putObject, remove } = withBlobs((opened) => ({ store, one } = opened))

test('collectGarbage() removes what nobody names, when its hour is over', { skip }, async () => {
  const bucket = await makeBucket(store, 'garbage')
  const kept = await putObject(bucket, 'kept', randomBytes(10))
  const gone = await putObject(bucket, 'gone', randomBytes(10))
  await remove(bucket, 'gone')
  const deps = { state: store.state, store: one }
  assert.equal(await collectGarbage(deps, { limit: 10, signal }), 0)
  assert.ok(existsSync(fileOf(gone)))
  assert.equal(await collectGarbage(deps, { limit: 10, signal, graceMs: -1000 }), 1)
  assert.deepEqual([existsSync(fileOf(gone)), existsSync(fileOf(kept))], [false, true])
})

test('sweepOrphans() removes old files without a row, folder by folder', { skip }, async () => {
  const bucket = await makeBucket(store, 'orphans')
  const named = await putObject(bucket, 'named', randomBytes(10))
  const garbage = await putObject(bucket, 'garbage', randomBytes(10))
  await remove(bucket, 'garbage')
  const orphan = await putBlob(randomBytes(10))
  const sweep = async (clock: typeof systemClock, id: string) => {
    const before = SHARDS.at(SHARDS.indexOf(id.slice(0, 2)) - 1)
    await savePlace(store.state, 'sweep:one', before)
    const swept = await sweepOrphans({ state: store.state, store: one, clock }, { signal })
    assert.equal(swept.shard, id.slice(0, 2))
  }
  await sweep(systemClock, orphan.id)
  assert.ok(existsSync(fileOf(orphan)))
  for (const { id } of [orphan, named, garbage]) await sweep(later(1.1 * DAY_MS), id)
  assert.deepEqual(
    [orphan, named, garbage].map((blob) => existsSync(fileOf(blob))),
    [false, true, true],
  )
})

test('scrub() goes on where it ended and finds what is damaged or missing', { skip }, async () => {
  const bucket = await makeBucket(store, 'scrubbed')
  const blobs = []
  for (let n = 0; n < 5; n++) blobs.push(await putObject(bucket, `k${n}`, randomBytes(1000)))
  const [damaged, missing] = blobs
  assert.ok(damaged && missing)
  writeFileSync(fileOf(damaged), randomBytes(1000))
  rmSync(fileOf(missing))
  const found: string[] = []
  const deps = { state: store.state, store: one }
  for (let calls = 0; ; calls++) {
    const slice = await scrub(deps, { bytesMax: 2000, signal })
    assert.ok(slice.read <= 2000 && calls < 5)
    found.push(...slice.damaged.map(({ id }) => id))
    if (slice.done) break
  }
  assert.deepEqual(found.toSorted(), [damaged.id, missing.id].toSorted())
})
