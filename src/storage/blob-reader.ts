// Reads the bodies of versions, wherever their blobs are: each blob says its location, and each encrypted
// body has the key it was encrypted with beside it, wrapped.
import type { Readable } from 'node:stream'
import type { ByteRange } from '#blobs/blob.ts'
import { storeOf, type BlobStores } from '#blobs/stores.ts'
import type { Body, Json, Part } from '#storage/objects/types.ts'
import { openFrames, sealedRange } from './encryption/frames.ts'

export type ReadOptions = {
  readonly signal: AbortSignal
  /** In bytes, as the client sees it. */
  readonly size: number
  readonly range?: ByteRange
  /** Of encrypted bodies: the wrapped key of one in the row, and how to unwrap any. */
  readonly cipher?: { readonly envelope: Json; readonly open: (envelope: Json) => Buffer }
}

export interface BlobReader {
  /** The bytes of a body, all or a range, pulled with back-pressure. */
  read(body: Body, options: ReadOptions): AsyncIterable<Buffer>
}

export function createBlobReader(stores: BlobStores): BlobReader {
  async function* readPart(part: Part, range: ByteRange, options: ReadOptions) {
    const { signal, cipher } = options
    const { blob, size } = part
    const store = storeOf(stores, blob)
    if (cipher === undefined || part.encryption === null) {
      const isWhole = range.first === 0 && range.last === size - 1
      yield* chunksOf(await store.get(blob, { signal, ...(isWhole ? {} : { range }) }))
      return
    }
    // First the key: where it cannot be unwrapped nobody would close what is opened.
    const key = cipher.open(part.encryption)
    const sealed = await store.get(blob, { signal, range: sealedRange(range, size) })
    yield* openFrames(key, chunksOf(sealed), { range, size })
  }

  return {
    async *read(body, options) {
      const { size, cipher } = options
      const range = options.range ?? { first: 0, last: size - 1 }
      if (size === 0) return
      if (body.kind === 'inline') {
        if (cipher === undefined) yield body.bytes.subarray(range.first, range.last + 1)
        else yield* openInline(body.bytes, cipher.open(cipher.envelope), { range, size })
        return
      }
      let start = 0
      for (const part of body.parts) {
        const end = start + part.size - 1
        if (end >= range.first && start <= range.last) {
          const first = Math.max(range.first - start, 0)
          const last = Math.min(range.last - start, part.size - 1)
          yield* readPart(part, { first, last }, options)
        }
        start = end + 1
      }
    },
  }
}

/** A body in the row is opened whole: it is one frame. */
async function* openInline(
  sealed: Buffer,
  key: Buffer,
  place: { range: ByteRange; size: number },
): AsyncGenerator<Buffer> {
  yield* openFrames(key, one(sealed), place)
}

async function* one(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  for await (const chunk of stream) yield chunk as Buffer
}
