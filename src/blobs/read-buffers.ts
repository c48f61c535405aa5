// Buffers for reads of files, of two sizes. A large one takes less CPU for each byte and more memory for each reader
// that is slow, so it is for few readers at once.
import { createBufferPool } from '#base/buffer-pool.ts'
import { PIECE_SIZE } from './checksum.ts'

/** A read of 64 MiB took a fifth less CPU with it than with one of a piece. Twice as much took no less. */
export const LARGE_READ_SIZE = 2 * PIECE_SIZE
/** More readers at once read a piece at a time. */
export const LARGE_READERS_MAX = 16
/** 8 MiB: those of 16 readers that are sent. */
const LARGE_KEPT = 16
/** 16 MiB: two for each of 32 readers at once. */
const PIECES_KEPT = 64

export interface ReadBuffers {
  /** A buffer for the next bytes of a file, given its rest in bytes; it ends with a piece, or with the file. */
  take(bytesLeft: number): Buffer
  /** Counts a reader; the result is called at its end. */
  enter(): () => void
}

export function createReadBuffers(): ReadBuffers {
  const large = createBufferPool({ size: LARGE_READ_SIZE, kept: LARGE_KEPT })
  const pieces = createBufferPool({ size: PIECE_SIZE, kept: PIECES_KEPT })
  let readers = 0
  return {
    // At most half of a buffer stays empty. A new buffer costs page faults and the collector: with one for each rest, a
    // read of 200 kB took 250 µs of CPU instead of 140.
    take(bytesLeft) {
      const isLarge = bytesLeft > LARGE_READ_SIZE / 2 && readers <= LARGE_READERS_MAX
      if (isLarge) return large.take(Math.min(bytesLeft, LARGE_READ_SIZE))
      if (bytesLeft <= PIECE_SIZE / 2) return Buffer.allocUnsafeSlow(bytesLeft)
      return pieces.take(Math.min(bytesLeft, PIECE_SIZE))
    },
    enter() {
      readers++
      return () => void readers--
    },
  }
}
