import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createFsStore } from '#blobs/fs-store.ts'
import { createBlobStores, FS_LOCATION } from '#blobs/stores.ts'
import { quiet } from '#postgres/testing.ts'
import type { Queryable, SqlRow } from '#state/connect.ts'
import { createSealedBlobs, type SealedBlob } from './sealed-blobs.ts'

const { signal } = new AbortController()

const OTHER = 'other'

/** Blobs in the first of two stores, and a move of one of them to the second. */
async function open(t: TestContext) {
  const [local, other] = await Promise.all(
    [FS_LOCATION, OTHER].map((location) => {
      const folder = mkdtempSync(join(tmpdir(), 'ergon-sealed-'))
      t.after(() => rmSync(folder, { recursive: true }))
      return createFsStore({ folder, location, log: quiet, clock: systemClock })
    }),
  )
  assert.ok(local !== undefined && other !== undefined)
  const rows = new Map<unknown, SqlRow>()
  const state: Queryable = {
    async query<R extends SqlRow>(_: string, [id]: readonly unknown[] = []) {
      const found = [rows.get(id) ?? []].flat() as R[]
      return { rows: found, rowCount: found.length }
    },
  }
  const stores = { byLocation: createBlobStores([local, other]), target: local, local }
  return {
    blobs: createSealedBlobs({ state, stores, secret: 'of the data folder' }),
    async move({ blob }: SealedBlob) {
      const { id, size } = blob
      const moved = await other.put(await local.get(blob, { signal }), {
        signal,
        sizeMax: size,
        id,
      })
      rows.set(id, moved)
    },
    removeOld: ({ blob }: SealedBlob) => local.delete(blob, signal),
  }
}

async function* pieces(bytes: Buffer, error?: Error): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  if (error !== undefined) throw error
}

test('bytes come back as they were', async (t) => {
  const { blobs } = await open(t)
  const bytes = Buffer.concat([randomBytes(700_000), Buffer.alloc(700_000)])
  const sealed = await blobs.put(pieces(bytes), signal)
  assert.ok(sealed.size < 800_000, 'compressed')
  assert.deepEqual(await buffer(blobs.get(sealed, signal)), bytes)
})

test('a source that fails in the middle is the error of its put, and nothing else', async (t) => {
  const { blobs } = await open(t)
  const put = blobs.put(pieces(randomBytes(300_000), new Error('the server has gone')), signal)
  await assert.rejects(put, /the server has gone/)
})

test('bytes that were moved to another store are read there, also when the old copy is gone', async (t) => {
  const { blobs, move, removeOld } = await open(t)
  const bytes = randomBytes(300_000)
  const sealed = await blobs.put(pieces(bytes), signal)
  await move(sealed)
  assert.deepEqual(await buffer(blobs.get(sealed, signal)), bytes)
  await removeOld(sealed)
  assert.deepEqual(await buffer(blobs.get(sealed, signal)), bytes)
  const lost = await blobs.put(pieces(bytes), signal)
  await removeOld(lost)
  await assert.rejects(buffer(blobs.get(lost, signal)), { code: 'blob_missing' })
})
