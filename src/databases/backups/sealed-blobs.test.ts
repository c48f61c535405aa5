import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { FS_LOCATION, openBlobStores } from '#blobs/stores.ts'
import { quiet } from '#postgres/testing.ts'
import { createSealedBlobs } from './sealed-blobs.ts'

const { signal } = new AbortController()

async function open(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-sealed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const settings = { folder, target: FS_LOCATION, locations: [FS_LOCATION], s3: {} }
  const stores = await openBlobStores(settings, { log: quiet, clock: systemClock })
  return createSealedBlobs({ stores, secret: 'of the data folder' })
}

async function* pieces(bytes: Buffer, error?: Error): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
  if (error !== undefined) throw error
}

test('bytes come back as they were', async (t) => {
  const blobs = await open(t)
  const bytes = Buffer.concat([randomBytes(700_000), Buffer.alloc(700_000)])
  const sealed = await blobs.put(pieces(bytes), signal)
  assert.ok(sealed.size < 800_000, 'compressed')
  assert.deepEqual(await buffer(blobs.get(sealed, signal)), bytes)
})

test('a source that fails in the middle is the error of its put, and nothing else', async (t) => {
  const blobs = await open(t)
  const put = blobs.put(pieces(randomBytes(300_000), new Error('the server has gone')), signal)
  await assert.rejects(put, /the server has gone/)
})
