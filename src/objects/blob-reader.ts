// Reads the bodies of versions. Each blob has a location; each encrypted body has its wrapped key beside it.
import { ErgonError, messageOf } from '#base/errors.ts'
import type { BlobRef, ByteRange, NewBlob } from '#blobs/blob.ts'
import { blobDamaged, blobMissing, isOfBlob } from '#blobs/faults.ts'
import { storeOf, type BlobStores } from '#blobs/stores.ts'
import type { Queryable } from '#state/connect.ts'
import { placedBlob } from './placed-blob.ts'
import type { Part, PartBlob } from './types.ts'
import type { Damages } from './damage.ts'
import { openFrames, sealedRange } from './encryption/frames.ts'
import { createInlineReader, type Cipher, type StoredBody } from './inline-body.ts'

export type ReadOptions = {
  readonly signal: AbortSignal
  readonly range?: ByteRange
  /** For encrypted bodies. */
  readonly cipher?: Cipher
}

export interface BlobReader {
  /**
   * The bytes of a body, whole or a range, with back-pressure. Throws `blob_missing` and `blob_damaged`, after
   * alarming the operator.
   */
  read(stored: StoredBody, options: ReadOptions): AsyncIterable<Buffer>
  /**
   * Checks a body that is not encrypted: that each blob exists in its length, and all bytes of a body in a row. Throws
   * what read() throws.
   */
  check(stored: StoredBody, signal: AbortSignal): Promise<void>
}

/** A body that is copied has at most 1024 parts of 5 MiB. */
const CHECKS_AT_ONCE = 16

type Deps = {
  readonly stores: BlobStores
  readonly finds: Queryable
  readonly damages: Pick<Damages, 'tell' | 'tellBody' | 'telling'>
}

export function createBlobReader({ stores, finds, damages }: Deps): BlobReader {
  const deps = {
    stores,
    ...damages.telling({ summed: (blob: PartBlob) => placedBlob(finds, blob) }),
  }
  const readInline = createInlineReader({ damages })

  /** Throws the error again. The reader waits for the alarm; an unreachable state ends that wait. */
  async function raiseAlarm(error: unknown, blob: BlobRef): Promise<never> {
    if (!isOfBlob(error)) throw error
    await damages.tell(blob, messageOf(error)).catch(() => undefined)
    // The disk's own error has no code of ours.
    throw error instanceof ErgonError ? error : blobDamaged(blob.id, messageOf(error), error)
  }

  async function* readTold(part: Part, range: ByteRange, options: ReadOptions) {
    try {
      // One generator over the store's stream: each level more takes three turns of the promise queue for a chunk.
      for await (const chunk of await openPart(deps, part, range, options)) yield chunk
    } catch (error) {
      await raiseAlarm(error, part.blob)
    }
  }

  async function checkBlob(blob: BlobRef, signal: AbortSignal): Promise<void> {
    const found = await storeOf(stores, blob).stat(blob.id, signal)
    if (found === undefined) return await raiseAlarm(blobMissing(blob.id), blob)
    if (found.size !== blob.size) {
      const fault = blobDamaged(blob.id, `it has ${found.size} bytes, not ${blob.size}`)
      await raiseAlarm(fault, blob)
    }
  }

  return {
    async *read(stored, options) {
      const { cipher } = options
      const { body, version } = stored
      const { size } = version
      const range = options.range ?? { first: 0, last: size - 1 }
      const isLonger = body.kind === 'inline' && cipher === undefined && body.bytes.length > 0
      if (size === 0 && !isLonger) return
      if (body.kind === 'inline') return yield* readInline(stored, body.bytes, { range, cipher })
      let start = 0
      for (const part of body.parts) {
        const end = start + part.size - 1
        if (end >= range.first && start <= range.last) {
          const first = Math.max(range.first - start, 0)
          const last = Math.min(range.last - start, part.size - 1)
          yield* readTold(part, { first, last }, options)
        }
        start = end + 1
      }
    },
    async check(stored, signal) {
      const { body } = stored
      if (body.kind === 'inline') {
        for await (const _ of this.read(stored, { signal }));
        return
      }
      const blobs = body.parts.map(({ blob }) => blob)
      for (let at = 0; at < blobs.length; at += CHECKS_AT_ONCE)
        await Promise.all(
          blobs.slice(at, at + CHECKS_AT_ONCE).map((blob) => checkBlob(blob, signal)),
        )
    },
  }
}

async function openPart(
  deps: { readonly stores: BlobStores; readonly summed: (blob: PartBlob) => Promise<NewBlob> },
  part: Part,
  range: ByteRange,
  options: ReadOptions,
): Promise<AsyncIterable<Buffer>> {
  const { signal, cipher } = options
  const { size } = part
  // The key first: if unwrapping fails, no blob is open.
  const key =
    cipher === undefined || part.encryption === null ? undefined : cipher.open(part.encryption)
  const blob = isSummed(part.blob) ? part.blob : await deps.summed(part.blob)
  const store = storeOf(deps.stores, blob)
  if (key === undefined) {
    const isWhole = range.first === 0 && range.last === size - 1
    return await store.get(blob, { signal, ...(isWhole ? {} : { range }) })
  }
  const sealed = await store.get(blob, { signal, range: sealedRange(range, size) })
  return openFrames(key, sealed, { range, size, blobId: blob.id })
}

const isSummed = (blob: PartBlob): blob is NewBlob => blob.checksum !== undefined
