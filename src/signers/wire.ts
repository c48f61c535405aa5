// The protocol of coordinator and signers: HTTP on a unix socket, JSON except for leaves, which are
// u64be(accountSeq) ‖ u32be(length) ‖ bytes, one after another.
import type { ErgonError, ErrorDetails } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import type { LeafContent } from '#tlog/leaf.ts'

/** Three of five must agree. 3 + 3 > 5: two checkpoints that contradict need a signer that signed both. */
export const THRESHOLD = 3
export const SIGNERS = 5
/** Leaves go in batches of this many, or of this many bytes if that is reached before. */
export const BATCH_LEAVES_MAX = 512
export const BATCH_BYTES_MAX = 1_048_576
/** A charge has some 700 bytes; more than this is none. */
export const LEAF_BYTES_MAX = 65_536
export const BODY_BYTES_MAX = BATCH_BYTES_MAX + LEAF_BYTES_MAX + 65_536
/** Nonces that one signer keeps; asking for more makes it forget the oldest. */
export const NONCES_MAX = 64
const LEAF_HEAD_BYTES = 12

/** The public part of the group's key: the commitments (the first is the key) and each share's point. */
export type GroupKey = {
  readonly commitments: readonly string[]
  readonly verifyingShares: Readonly<Record<string, string>>
}
/** The public half of a pair of nonces, points as base64. */
export type Commitment = {
  readonly index: number
  readonly hiding: string
  readonly binding: string
}
/** The message of a signer to all others in the first round of key generation. */
export type DkgPackage = { readonly commitment: readonly string[]; readonly proof: string }

/** A shard that a signer signed, and since when (RFC 3339). */
export type SignedShard = { readonly shard: string; readonly since: string }
/**
 * A log position as signers report it; `root` is base64, `shards` all that this share ever signed, `note` the newest
 * note of the group that the signer keeps.
 */
export type Position = {
  readonly shard: string
  readonly size: number
  readonly root: string
  readonly shards: readonly SignedShard[]
  readonly note: string | null
}

/**
 * `active` and `pending` are keys of groups, null where there is none; `handover` is the word of the key before
 * `active`, where it followed one; `held` is how far its checked leaves reach.
 */
export type Status = {
  readonly index: number
  readonly active: GroupKey | null
  readonly pending: GroupKey | null
  readonly handover: string | null
  readonly signed: Position | null
  readonly held: { readonly origin: string; readonly size: number } | null
}

export type Round1Request = { readonly ceremony: string }
export type Round1Reply = DkgPackage & { readonly exchangeKey: string }
/** Packages by signer index, the receiver's own among them. */
export type Round2Request = {
  readonly ceremony: string
  readonly packages: Readonly<Record<string, Round1Reply>>
}
/** Encrypted shares by receiving signer. */
export type Round2Reply = { readonly shares: Readonly<Record<string, string>> }
/** Encrypted shares by sending signer. */
export type Round3Request = {
  readonly ceremony: string
  readonly shares: Readonly<Record<string, string>>
}
export type Round3Reply = { readonly group: GroupKey; readonly transcript: string }
/** `handover` is the word of the key in use for this one, which takes its place. */
export type FinishRequest = { readonly group: GroupKey; readonly handover?: string | undefined }

export type CommitRequest = { readonly count: number }
export type Nonce = { readonly id: string; readonly commitment: Commitment }
export type CommitReply = { readonly nonces: readonly Nonce[] }
/** `message` is the text that is signed: the body of a checkpoint, or of a handover. */
export type SignRequest = {
  readonly message: string
  readonly nonce: string
  readonly commitments: readonly Commitment[]
}
/** A note that three signers, the receiver among them, have signed. */
export type NoteRequest = { readonly note: string }
export type SignReply = { readonly share: string }
export type LeavesReply = { readonly size: number }
export type RefusalReply = {
  readonly code: string
  readonly message: string
  readonly details: ErrorDetails
}

/** Why a signer says no; `gap` and `unknown_nonce` heal by sending leaves or taking a new nonce. */
export type RefusalCode =
  | 'no_key'
  | 'key_exists'
  | 'ceremony_unknown'
  | 'share_refused'
  | 'foreign_origin'
  | 'shard_closed'
  | 'link_refused'
  | 'leaf_refused'
  | 'gap'
  | 'size_regression'
  | 'root_mismatch'
  | 'unknown_nonce'
  | 'malformed'

/** A signer's no. */
export const refusal = (code: RefusalCode, message: string, more: Refused = {}): ErgonError =>
  fault(code, message, more)
type Refused = { details?: ErrorDetails; cause?: unknown }

export type LeafBatch = { readonly body: Buffer; readonly count: number }

/** The batch that begins a list of leaves. */
export function encodeLeaves(leaves: readonly LeafContent[]): LeafBatch {
  let length = 0
  let count = 0
  for (const { bytes } of leaves) {
    if (count === BATCH_LEAVES_MAX || length >= BATCH_BYTES_MAX) break
    length += LEAF_HEAD_BYTES + bytes.length
    count += 1
  }
  const body = Buffer.allocUnsafe(length)
  let at = 0
  for (const { accountSeq, bytes } of leaves.slice(0, count)) {
    body.writeBigUInt64BE(accountSeq, at)
    body.writeUInt32BE(bytes.length, at + 8)
    body.set(bytes, at + LEAF_HEAD_BYTES)
    at += LEAF_HEAD_BYTES + bytes.length
  }
  return { body, count }
}

export function decodeLeaves(body: Buffer): LeafContent[] {
  const leaves: LeafContent[] = []
  let at = 0
  while (at < body.length) {
    if (body.length - at < LEAF_HEAD_BYTES) throw refusal('malformed', 'Could not read the leaves')
    const length = body.readUInt32BE(at + 8)
    const begin = at + LEAF_HEAD_BYTES
    if (length > LEAF_BYTES_MAX || body.length - begin < length)
      throw refusal('malformed', `Could not read a leaf of ${length} bytes`)
    leaves.push({
      accountSeq: body.readBigUInt64BE(at),
      bytes: body.subarray(begin, begin + length),
    })
    at = begin + length
  }
  return leaves
}
