// tlog/ is the public log of receipts as pure functions: no network, no disk, no clock. This file is
// its bottom: what one leaf is made of, and the two hashes of RFC 6962 §2.1.
import { hash } from 'node:crypto'

export const HASH_BYTES = 32
/** SHA-256 of the charge bytes and the account's sequence number. */
export const ENTRY_BYTES = HASH_BYTES + 8

const LEAF_PREFIX = Buffer.from([0])
// The buffers that are hashed, reused: a concatenation each time took as long as the hash.
const leaf = Buffer.alloc(1 + ENTRY_BYTES, 0)
const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1)

// A string of 32 characters costs less than a buffer of its own, which is memory outside of the heap:
// hash() of 41 bytes takes 0.6 µs as 'binary' and 1.8 as 'buffer'.
const digest = (bytes: Uint8Array): string => hash('sha256', bytes, 'binary')

export const sha256 = (bytes: Uint8Array): Buffer => Buffer.from(digest(bytes), 'latin1')

/** RFC 6962 §2.1: the hash of the empty tree. */
export const EMPTY_ROOT: Buffer = sha256(Buffer.alloc(0))

/** The bytes behind one leaf, and where they stand in their account's own count. */
export type LeafContent = { readonly accountSeq: bigint; readonly bytes: Uint8Array }

/**
 * The log's entry: SHA-256(bytes) ‖ u64be(accountSeq), 40 bytes. The charge itself stays private; its
 * random salt keeps the hash from being guessed. A gapless accountSeq makes an omitted or repeated
 * charge visible to the account it belongs to.
 */
export function logEntry({ accountSeq, bytes }: LeafContent): Buffer {
  const entry = Buffer.allocUnsafe(ENTRY_BYTES)
  sha256(bytes).copy(entry)
  entry.writeBigUInt64BE(accountSeq, HASH_BYTES)
  return entry
}

/** RFC 6962 §2.1: SHA-256(0x00 ‖ entry). */
export const leafHash = (entry: Uint8Array): Buffer => sha256(Buffer.concat([LEAF_PREFIX, entry]))

/** leafHash(logEntry()) in one step: every charge goes through it in the sealer and in each signer. */
export function leafOf({ accountSeq, bytes }: LeafContent): Buffer {
  leaf.write(digest(bytes), 1, 'latin1')
  leaf.writeBigUInt64BE(accountSeq, 1 + HASH_BYTES)
  return sha256(leaf)
}

/** RFC 6962 §2.1: SHA-256(0x01 ‖ left ‖ right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Buffer {
  node.set(left, 1)
  node.set(right, 1 + HASH_BYTES)
  return sha256(node)
}
