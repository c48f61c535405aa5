// Leaves of a log that were read together, in one buffer. A leaf is an object only while somebody looks at it:
// kept as objects of their own, thousands of leaves were 38 % of the sealer's CPU, in the collector.
import type { LeafContent } from '#tlog/leaf.ts'

/** The head of each leaf, big-endian: the account's sequence number in 8 bytes, the length in 4. */
export const LEAF_HEAD_BYTES = 12

export class LeafPage {
  readonly count: number
  readonly #heads: Buffer
  readonly #bytes: Buffer
  /** Where each leaf ends. */
  readonly #ends: Uint32Array

  /** `heads` are those of all leaves, `bytes` all their bytes, one leaf after the other. */
  constructor(heads: Buffer, bytes: Buffer) {
    this.count = heads.length / LEAF_HEAD_BYTES
    this.#heads = heads
    this.#bytes = bytes
    this.#ends = new Uint32Array(this.count)
    let end = 0
    for (let nth = 0; nth < this.count; nth++)
      this.#ends[nth] = end += heads.readUInt32BE(nth * LEAF_HEAD_BYTES + 8)
  }

  /** A page of leaves that are objects already. */
  static of(leaves: readonly LeafContent[]): LeafPage {
    const heads = Buffer.alloc(leaves.length * LEAF_HEAD_BYTES)
    leaves.forEach(({ accountSeq, bytes }, nth) => {
      heads.writeBigUInt64BE(accountSeq, nth * LEAF_HEAD_BYTES)
      heads.writeUInt32BE(bytes.length, nth * LEAF_HEAD_BYTES + 8)
    })
    return new LeafPage(heads, Buffer.concat(leaves.map(({ bytes }) => bytes)))
  }

  leaf(nth: number): LeafContent {
    return {
      accountSeq: this.#heads.readBigUInt64BE(nth * LEAF_HEAD_BYTES),
      bytes: this.#bytes.subarray(this.#ends[nth - 1] ?? 0, this.#ends[nth]),
    }
  }

  leaves(from = 0, to = this.count): LeafContent[] {
    const end = Math.min(to, this.count)
    return Array.from({ length: Math.max(0, end - from) }, (_, nth) => this.leaf(from + nth))
  }
}
