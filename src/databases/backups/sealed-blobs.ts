// Bytes of backups as blobs: compressed, then encrypted as bodies of objects are, each with a key of its own that the
// secret of the data folder wraps. All of it in bounded memory.
import { pipeline, Readable } from 'node:stream'
import { createZstdCompress, createZstdDecompress } from 'node:zlib'
import { ErgonError } from '#base/errors.ts'
import type { NewBlob } from '#blobs/blob.ts'
import { storeOf, type OpenBlobStores } from '#blobs/stores.ts'
import { placedBlob } from '#objects/placed-blob.ts'
import { openFrames, sealedSize, sealFrames } from '#objects/encryption/frames.ts'
import { createVault } from '#objects/encryption/vault.ts'
import type { Json } from '#objects/types.ts'
import type { Queryable } from '#state/connect.ts'

export type SealedBlob = {
  readonly blob: NewBlob
  /** Compressed, before encryption. */
  readonly size: number
  /** The wrapped key. */
  readonly key: Json
}

export interface SealedBlobs {
  /**
   * Stores bytes; durable when it resolves. `compressed` hears the size of each chunk before it is encrypted and written.
   * Throws what BlobStore.put() throws.
   */
  put(
    bytes: AsyncIterable<Buffer>,
    signal: AbortSignal,
    compressed?: (size: number) => void,
  ): Promise<SealedBlob>
  /** The bytes of a blob. Throws `blob_missing` and `blob_damaged`. */
  get(sealed: SealedBlob, signal: AbortSignal): AsyncIterable<Buffer>
}

/** No piece of a backup is as large, compressed or not. */
const BLOB_BYTES_MAX = 1024 ** 3
const ENCRYPTION = { kind: 'SSE-S3' } as const

export function createSealedBlobs(deps: {
  readonly state: Queryable
  readonly stores: OpenBlobStores
  /** The secret that all keys are derived from. */
  readonly secret: string
}): SealedBlobs {
  const { state, stores } = deps
  const vault = createVault({ secret: deps.secret, keyIds: [], versionOf: () => 1 })
  return {
    async put(bytes, signal, heard) {
      await stores.target.admit()
      const { key, envelope } = vault.create(ENCRYPTION, undefined)
      let size = 0
      const compressed = createZstdCompress()
      // The loop below throws an error of the source. With pipe() the error would end the process.
      pipeline(Readable.from(bytes), compressed, () => undefined)
      async function* counted(): AsyncGenerator<Buffer> {
        for await (const chunk of compressed as AsyncIterable<Buffer>) {
          size += chunk.length
          heard?.(chunk.length)
          yield chunk
        }
      }
      const blob = await stores.target.put(sealFrames(key, counted()), {
        signal,
        sizeMax: BLOB_BYTES_MAX,
      })
      return { blob, size, key: envelope }
    },
    async *get({ blob, size, key }, signal) {
      const secret = vault.open(ENCRYPTION, key, undefined)
      const whole = { range: { first: 0, last: size - 1 }, size, blobId: blob.id }
      const range = { first: 0, last: sealedSize(size) - 1 }
      const open = (at: NewBlob) => storeOf(stores.byLocation, at).get(at, { signal, range })
      const sealed = (await open(blob).catch(async (error: unknown) => {
        if (!isMissing(error)) throw error
        // A restore may read longer than the old copy of a blob stays that was moved to another store.
        const now = await placedBlob(state, blob)
        if (now.location === blob.location) throw error
        return await open(now)
      })) as AsyncIterable<Buffer>
      const opened = Readable.from(openFrames(secret, sealed, whole))
      yield* opened.compose(createZstdDecompress()) as AsyncIterable<Buffer>
    },
  }
}

const isMissing = (error: unknown): boolean =>
  error instanceof ErgonError && error.code === 'blob_missing'
