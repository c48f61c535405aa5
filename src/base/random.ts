// Random bytes of the system's generator, drawn in blocks: a call of it costs 3 µs, a share of a block 0.1.
import { randomFillSync } from 'node:crypto'

const block = Buffer.alloc(4096)
let used = block.length

/** Bytes that nobody was given before; at most 4096. Read them at once: the next block overwrites them. */
export function takeRandom(count: number): Buffer {
  if (used + count > block.length) {
    randomFillSync(block)
    used = 0
  }
  return block.subarray(used, (used += count))
}
