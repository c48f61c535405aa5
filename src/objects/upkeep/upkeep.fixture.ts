// Objects whose bodies are blobs in one of two folders, for the tests of what is done to them later.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { after, before, beforeEach } from 'node:test'
import { systemClock } from '#base/clock.ts'
import { createLogger } from '#base/log.ts'
import { SHARDS, type BlobStore, type NewBlob } from '#blobs/blob.ts'
import { createFsStore } from '#blobs/fs-store.ts'
import { createBlobStores, storeOf } from '#blobs/stores.ts'
import { whyNoState } from '#postgres/testing-url.ts'
import { attributes, part, readVersion, withStore, type Store } from '#objects/store.fixture.ts'
import type { Bucket } from '#objects/types.ts'

type Kept = { readonly store: Store; readonly one: BlobStore; readonly two: BlobStore }

const { signal } = new AbortController()

/** The clock of so many ms from now. */
export const later = (ms: number) => ({ ...systemClock, wallMs: () => Date.now() + ms })

/**
 * Opens a store and two folders of blobs for the tests of a file, empty before each test, and closes all afterwards.
 * The functions that the fixture returns use these, and put blobs into `one`.
 */
export function withBlobs(opened: (kept: Kept) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'ergon-upkeep-'))
  let store: Store
  let one: BlobStore
  let two: BlobStore
  withStore(4, (made) => (store = made))
  before(async () => {
    if (whyNoState() !== false) return
    const given = { log: createLogger('test', { write: () => {} }), clock: systemClock }
    one = await createFsStore({ ...given, folder: join(folder, 'one'), location: 'one' })
    two = await createFsStore({ ...given, folder: join(folder, 'two'), location: 'two' })
  })
  beforeEach(async () => {
    if (whyNoState() !== false) return
    await store.state.query(
      `truncate buckets, bucket_usage, object_versions, object_folders, uploads, upload_parts, blobs, blob_garbage,
         storage_upkeep`,
    )
    // Not in the hook above: outside of suites it does not wait for the one that opens the store.
    opened({ store, one, two })
  })
  after(() => rmSync(folder, { recursive: true }))

  const stores = () => createBlobStores([one, two])
  const putBlob = (bytes: Buffer) => one.put(Readable.from([bytes]), { signal, sizeMax: 1_000_000 })
  return {
    stores,
    putBlob,
    /** The names of all files of a store, whatever they are. */
    filesOf: (location: 'one' | 'two') =>
      SHARDS.flatMap((shard) => readdirSync(join(folder, location, shard))).toSorted(),
    fileOf: (blob: NewBlob) => join(folder, blob.location, blob.id.slice(0, 2), blob.id),
    async putObject(bucket: Bucket, key: string, bytes: Buffer): Promise<NewBlob> {
      const blob = await putBlob(bytes)
      const parts = [{ ...part(1, bytes.length, key), blob }]
      await store.objects.put(bucket, key, {
        attributes: attributes(key, bytes.length),
        body: { kind: 'parts', parts },
      })
      return blob
    },
    async readObject(bucket: Bucket, key: string): Promise<Buffer> {
      const { body } = await readVersion(store, bucket, { key })
      assert.ok(body.kind === 'parts' && body.parts[0] !== undefined)
      const { checksum, ...blob } = body.parts[0].blob
      assert.ok(checksum !== undefined)
      return buffer(await storeOf(stores(), blob).get({ ...blob, checksum }, { signal }))
    },
    remove: (bucket: Bucket, key: string) =>
      store.objects.delete(bucket, [{ key }], { bypassGovernance: false }),
  }
}
