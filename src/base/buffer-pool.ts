// Large buffers that are used again: a new one of 256 KiB costs 0.25 ms in page faults. A server that read
// and sent 64 MiB took 122 ms of CPU with new buffers and 55 with these.
export interface BufferPool {
  /** A buffer of the pool's size, or its first bytes, with whatever they held before. */
  take(length?: number): Buffer
}

const GIVE_BACK = Symbol('give back')
type Lent = { [GIVE_BACK]?: () => void }

/** `size` in bytes; `kept` is how many wait to be used again at most. */
export function createBufferPool({ size, kept }: { size: number; kept: number }): BufferPool {
  const free: Buffer[] = []

  return {
    take(length = size) {
      const buffer = free.pop() ?? Buffer.allocUnsafeSlow(size)
      const lent: Buffer & Lent = length < size ? buffer.subarray(0, length) : buffer
      lent[GIVE_BACK] = () => {
        // Twice in the pool it would be lent to two at once.
        delete lent[GIVE_BACK]
        if (free.length < kept) free.push(buffer)
      }
      return lent
    },
  }
}

/** True for a buffer of a pool, false for a part or a copy of a buffer. */
export const isLent = (chunk: unknown): chunk is Buffer =>
  Buffer.isBuffer(chunk) && GIVE_BACK in chunk

/**
 * Returns the chunk's buffer to its pool: nobody reads it any more, so its bytes may change. A caller who keeps a
 * chunk, or knows no pools, does not call this, and the buffer is never used again. Other chunks are ignored.
 */
export function giveBack(chunk: unknown): void {
  if (isLent(chunk)) (chunk as Lent)[GIVE_BACK]?.()
}
