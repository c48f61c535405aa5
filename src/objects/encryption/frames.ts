// Encrypted bodies: AES-256-GCM over frames of 64 KiB, each with its tag, so that a range is read without
// the rest. The nonce is the number of the frame, and whether it is the last: a body cut short, or with
// frames in another order, does not open (the STREAM construction, Hoang et al., CRYPTO 2015). A key
// encrypts one body only, so no nonce comes twice.
import { createCipheriv, createDecipheriv } from 'node:crypto'
import type { ByteRange } from '#blobs/blob.ts'
import { blobDamaged, bodyDamaged } from '#blobs/faults.ts'

const FRAME_BYTES = 64 * 1024
const TAG_BYTES = 16
const SEALED_BYTES = FRAME_BYTES + TAG_BYTES

/** The encrypted size of a body of `size` bytes; an empty body is one empty frame. */
export const sealedSize = (size: number): number => size + framesOf(size) * TAG_BYTES

const framesOf = (size: number): number => Math.max(1, Math.ceil(size / FRAME_BYTES))

function nonceOf(index: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeUInt32BE(index, 4)
  nonce[11] = isLast ? 1 : 0
  return nonce
}

function seal(key: Buffer, frame: Buffer, index: number, isLast: boolean): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonceOf(index, isLast))
  return Buffer.concat([cipher.update(frame), cipher.final(), cipher.getAuthTag()])
}

type FramePosition = {
  readonly index: number
  readonly isLast: boolean
  readonly blobId: string | undefined
}

function open(key: Buffer, sealed: Buffer, { index, isLast, blobId }: FramePosition): Buffer {
  const nonce = nonceOf(index, isLast)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  try {
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(sealed.subarray(0, -TAG_BYTES)), decipher.final()])
  } catch {
    const found = `frame ${index} cannot be decrypted`
    throw blobId === undefined ? bodyDamaged(found) : blobDamaged(blobId, found)
  }
}

/** Encrypts a stream. */
export async function* sealFrames(
  key: Buffer,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void, undefined> {
  let index = 0
  // A frame is sealed when a byte after it is known: the last frame is marked as the last.
  for await (const { bytes, isLast } of inPieces(chunks, FRAME_BYTES))
    yield seal(key, bytes, index++, isLast)
}

/** The stored bytes that hold a range of a body of `size` bytes. */
export function sealedRange(range: ByteRange, size: number): ByteRange {
  const last = Math.floor(range.last / FRAME_BYTES)
  return {
    first: Math.floor(range.first / FRAME_BYTES) * SEALED_BYTES,
    last: Math.min((last + 1) * SEALED_BYTES, sealedSize(size)) - 1,
  }
}

/** Decrypts the bytes of `sealedRange` and returns the range. Without `blobId` they are in a row. Throws `blob_damaged`. */
export async function* openFrames(
  key: Buffer,
  sealed: AsyncIterable<Buffer>,
  { range, size, blobId }: { range: ByteRange; size: number; blobId?: string },
): AsyncGenerator<Buffer, void, undefined> {
  const frames = framesOf(size)
  let index = Math.floor(range.first / FRAME_BYTES)
  for await (const { bytes } of inPieces(sealed, SEALED_BYTES)) {
    const frame = open(key, bytes, { index, isLast: index === frames - 1, blobId })
    const start = index++ * FRAME_BYTES
    const from = Math.max(range.first - start, 0)
    const to = Math.min(range.last + 1 - start, frame.length)
    if (to > from) yield frame.subarray(from, to)
  }
}

/** The same bytes in pieces of one length. The last piece may be shorter; it is empty only for an empty body. */
async function* inPieces(
  chunks: AsyncIterable<Buffer>,
  length: number,
): AsyncGenerator<{ bytes: Buffer; isLast: boolean }, void, undefined> {
  let kept: Buffer[] = []
  let keptBytes = 0
  for await (const chunk of chunks) {
    kept.push(chunk)
    keptBytes += chunk.length
    if (keptBytes <= length) continue
    let rest = kept.length === 1 ? chunk : Buffer.concat(kept)
    for (; rest.length > length; rest = rest.subarray(length))
      yield { bytes: rest.subarray(0, length), isLast: false }
    kept = [rest]
    keptBytes = rest.length
  }
  yield { bytes: Buffer.concat(kept), isLast: true }
}
