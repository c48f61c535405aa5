// The blob store on S3 servers of others, those that the benches have built: what it promises, and that of
// two installations one gets a place.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { suite, test, before, after } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { CreateBucketCommand, ListMultipartUploadsCommand, S3Client } from '@aws-sdk/client-s3'
import { createLogger } from '#base/log.ts'
import type { BlobStore } from '#blobs/blob.ts'
import { claimS3Store, openS3Store } from '#blobs/s3-open.ts'
import type { S3Settings } from '#blobs/s3-open.ts'
import { GO_PEERS, isBuilt, startS3Peer, type S3Peer } from '../s3-peers.ts'

const MIB = 1_048_576
const SIZE_MAX = 100 * MIB
/** More than a page of a list. */
const MANY = 1005
const LANES = 16
const TRIES = 600
const log = createLogger('test', { write: () => {} })
const { signal } = new AbortController()

for (const [name, program] of Object.entries(GO_PEERS)) {
  const skip = isBuilt(name) ? false : `${name} is not built: the storage bench does it`
  suite(`blobs on ${name}`, { skip }, () => {
    let peer: S3Peer
    let settings: S3Settings
    let client: S3Client
    let store: BlobStore

    before(async () => {
      peer = await startS3Peer(name, program)
      settings = {
        endpoint: peer.url,
        region: 'us-east-1',
        accessKeyId: peer.keys.id,
        secretAccessKey: peer.keys.secret,
      }
      client = new S3Client({ ...settings, forcePathStyle: true, credentials: settings })
      await client.send(new CreateBucketCommand({ Bucket: 'bodies' }))
      store = openS3Store('s3://bodies/a', settings, log)
    })
    after(async () => {
      client?.destroy()
      await peer?.close()
    })

    const put = (bytes: Buffer, id?: string) =>
      store.put(Readable.from(piecesOf(bytes)), { signal, sizeMax: SIZE_MAX, ...(id && { id }) })

    test('bodies come back, whole and in ranges, and are gone when they are deleted', async () => {
      for (const size of [0, 1, 100_000, 8 * MIB, 17 * MIB + 1]) {
        const bytes = randomBytes(size)
        const ref = await put(bytes)
        assert.equal((await store.stat(ref.id, signal))?.size, size)
        assert.ok((await buffer(await store.get(ref, { signal }))).equals(bytes), `${size} bytes`)
        for (const [first, last] of [
          [0, 0],
          [size - 1, size - 1],
          [size >> 1, size - 1],
        ] as const) {
          if (size === 0) break
          const part = await buffer(await store.get(ref, { signal, range: { first, last } }))
          assert.ok(part.equals(bytes.subarray(first, last + 1)), `${first} to ${last} of ${size}`)
        }
        await store.delete(ref, signal)
        await store.delete(ref, signal)
        assert.equal(await store.stat(ref.id, signal), undefined)
        if (size > 0) await assert.rejects(store.get(ref, { signal }), { code: 'blob_missing' })
      }
    })

    test('a list has every blob of a shard once, over pages', async () => {
      const hex = (nth: number) => nth.toString(16).padStart(6, '0')
      const ids = Array.from({ length: MANY }, (_, n) => `0a${hex(n)}-0000-4000-8000-000000000000`)
      const waiting = [...ids, '0b000000-0000-4000-8000-000000000000']
      const lane = async () => {
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop())
          await put(Buffer.from('text'), id)
      }
      await Promise.all(Array.from({ length: LANES }, lane))
      const found = []
      const before = Date.now() + 60_000
      for await (const blob of store.list('0a', signal)) {
        assert.equal(blob.size, 4)
        assert.ok(blob.writtenMs > 0 && blob.writtenMs < before)
        found.push(blob.id)
      }
      assert.deepEqual(found.toSorted(), ids)
      for await (const blob of store.list('0c', signal)) assert.fail(blob.id)
    })

    test('a put that is given up leaves neither a blob nor an open upload', async () => {
      const id = '0d000000-0000-4000-8000-000000000000'
      async function* broken() {
        for (let nth = 0; nth < 20; nth++) yield randomBytes(MIB)
        throw new RangeError('the client is gone')
      }
      await assert.rejects(store.put(broken(), { signal, sizeMax: SIZE_MAX, id }), RangeError)
      const stop = new AbortController()
      async function* endless() {
        for (let nth = 0; nth < 1000; nth++) {
          if (nth === 20) stop.abort()
          yield randomBytes(MIB)
        }
      }
      await assert.rejects(
        store.put(endless(), { signal: stop.signal, sizeMax: Number.MAX_SAFE_INTEGER, id }),
        { name: 'AbortError' },
      )
      assert.equal(await store.stat(id, signal), undefined)
      // The put was answered before the server heard of it.
      const openUploads = async () =>
        (await client.send(new ListMultipartUploadsCommand({ Bucket: 'bodies' }))).Uploads ?? []
      for (let tries = TRIES; (await openUploads()).length > 0; tries--) {
        assert.ok(tries > 0, 'the upload is still open')
        await pause(50)
      }
    })

    test('one of several installations that want one place at once gets it', async () => {
      const owners = ['one', 'two', 'three', 'four', 'five', 'six']
      const claim = (owner: string, isUsed = false) =>
        claimS3Store('s3://bodies/wanted', settings, { owner, isUsed, signal })
      const outcomes = await Promise.allSettled(owners.map((owner) => claim(owner)))
      const winners = owners.filter((_, nth) => outcomes[nth]?.status === 'fulfilled')
      assert.equal(winners.length, 1, winners.join())
      await claim(winners[0] ?? '', true)
      const wrong = { ...settings, secretAccessKey: 'x' }
      const refused = { code: 'blob_store_refused' }
      const given = { owner: 'one', isUsed: false, signal }
      await assert.rejects(claimS3Store('s3://bodies/a', wrong, given), refused)
      await assert.rejects(claimS3Store('s3://absent/a', settings, given), refused)
    })
  })
}

function* piecesOf(bytes: Buffer) {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536)
}
