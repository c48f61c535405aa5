// Reads a file as a stream in large pieces, one ahead of the reader. Whole pieces are buffers of the
// pool: a reader that is done with one may give it back.
import { Readable, addAbortSignal } from 'node:stream'
import type { BufferPool } from '#base/buffer-pool.ts'
import { invariant } from '#base/errors.ts'
import type { BlobRef, ByteRange } from './blob.ts'
import type { BlobReader } from './disk.ts'
import { blobDamaged } from './faults.ts'

// Twice of it took a tenth less CPU for 64 MiB, and twice the memory for each reader that is slow.
export const READ_SIZE = 256 * 1024

/** Takes over the file: it is closed when the stream ends, is destroyed, or the signal fires. */
export function readFile(
  file: BlobReader,
  ref: BlobRef,
  options: { signal: AbortSignal; range?: ByteRange; pool: BufferPool },
): Readable {
  const { first, last } = options.range ?? { first: 0, last: ref.size - 1 }
  invariant(first >= 0 && last < ref.size && first <= last + 1, 'a range is within its blob')
  let position = first
  const stream = new Readable({
    highWaterMark: READ_SIZE,
    read() {
      const length = Math.min(READ_SIZE, last + 1 - position)
      if (length === 0) return void this.push(null)
      const buffer = length === READ_SIZE ? options.pool.take() : Buffer.allocUnsafeSlow(length)
      file.read(buffer, position).then(
        (count) => {
          if (count === 0) return void this.destroy(blobDamaged(ref.id, `it ends at ${position}`))
          position += count
          this.push(count === length ? buffer : buffer.subarray(0, count))
        },
        (error: Error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      file.close().then(
        () => done(error),
        (fault: Error) => done(error ?? fault),
      )
    },
  })
  return addAbortSignal(options.signal, stream)
}
