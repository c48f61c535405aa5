// Reads a file as a stream in pieces, one ahead of the reader; a piece whose checksum does not fit is not given.
// Whole pieces are buffers of the pool: a reader that is done with one may give it back.
import { Readable, addAbortSignal } from 'node:stream'
import { giveBack } from '#base/buffer-pool.ts'
import { invariant } from '#base/errors.ts'
import type { ByteRange, NewBlob } from './blob.ts'
import { checkableRange, createBlobVerifier, PIECE_SIZE } from './checksum.ts'
import type { DiskReader } from './disk.ts'
import { blobDamaged } from './faults.ts'
import type { ReadBuffers } from './read-buffers.ts'
import { withinRange } from './verified.ts'

/**
 * The stream closes the file when it ends, is destroyed, or the signal fires. Throws `blob_damaged` when the
 * checksum is not one of the blob's size: the file is then still open, and the caller closes it.
 */
export function readFile(
  file: DiskReader,
  blob: NewBlob,
  options: { signal: AbortSignal; range?: ByteRange; buffers: ReadBuffers },
): Readable {
  const { buffers, range: wanted = { first: 0, last: blob.size - 1 } } = options
  const { first, last } = wanted
  invariant(first >= 0 && last < blob.size && first <= last + 1, 'a range is within its blob')
  const checkable = checkableRange(blob, wanted)
  const reading = checkable ?? wanted
  const verifier = checkable && createBlobVerifier(blob, checkable.first)
  const leave = buffers.enter()
  let position = reading.first
  async function next(bytesLeft: number): Promise<Buffer> {
    const buffer = buffers.take(bytesLeft)
    await fill(file, buffer, { blob, position })
    verifier?.update(buffer)
    const bytes = withinRange(buffer, position, wanted)
    position += buffer.length
    if (bytes === buffer) return buffer
    // A part of a buffer would keep that from the pool.
    const copy = Buffer.from(bytes)
    giveBack(buffer)
    return copy
  }
  const stream = new Readable({
    highWaterMark: PIECE_SIZE,
    read() {
      const bytesLeft = reading.last + 1 - position
      if (bytesLeft === 0) return void this.push(null)
      next(bytesLeft).then(
        (bytes) => void this.push(bytes),
        (error: Error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      leave()
      file.close().then(
        () => done(error),
        (fault: Error) => done(error ?? fault),
      )
    },
  })
  return addAbortSignal(options.signal, stream)
}

/** Throws `blob_damaged` where the file ends before. */
async function fill(
  file: DiskReader,
  buffer: Buffer,
  { blob, position }: { blob: NewBlob; position: number },
): Promise<void> {
  for (let filled = 0; filled < buffer.length;) {
    const count = await file.read(
      filled === 0 ? buffer : buffer.subarray(filled),
      position + filled,
    )
    if (count === 0) throw blobDamaged(blob.id, `it ends at ${position + filled}`)
    filled += count
  }
}
