// The rule of a signer: it signs only the head of the one log that it has followed leaf by leaf. It computes
// each root itself, and writes a signed head to disk before it answers.
import { messageOf, type ErgonError } from '#base/errors.ts'
import { parseCharge } from '#contract/charge.ts'
import { isPlainCharge } from '#contract/plain-charge.ts'
import {
  compareShards,
  originOf,
  parseCheckpoint,
  shardOf,
  type Checkpoint,
} from '#tlog/checkpoint.ts'
import { leafOf, type LeafContent } from '#tlog/leaf.ts'
import { EMPTY_FRONTIER, extend, frontierRoot, type Frontier } from '#tlog/tree.ts'
import { refusal } from './wire.ts'

/** The last head that was signed, with all that is needed to go on from it. */
export type SignedHead = { readonly shard: string; readonly frontier: Frontier }

export type Guard = {
  /**
   * Takes the leaves that follow `from` in a log, checks each, and gives the size then reached. They
   * count as held in memory only: after a restart the signer goes on from its last signed head.
   */
  offer(origin: string, from: number, leaves: readonly LeafContent[]): number
  /** Returns if the checkpoint may be signed; by then its head is on disk. Throws a refusal if not. */
  approve(body: string): void
  readonly signed: SignedHead | undefined
  readonly held: SignedHead | undefined
}

type GuardDeps = {
  readonly publicKey: Buffer
  readonly signed: SignedHead | undefined
  /** Must not return before the head is durable. */
  save(head: SignedHead): void
}

export function createGuard({ publicKey, signed: loaded, save }: GuardDeps): Guard {
  let signed = loaded
  let held = loaded
  return {
    get signed() {
      return signed
    },
    get held() {
      return held
    },
    offer(origin, from, leaves) {
      const shard = ownShard(origin, publicKey, signed)
      const base = [held, signed, start(shard, signed)].find(
        (head) => head?.shard === shard && head.frontier.size === from,
      )
      if (base === undefined) throw gap(shard, held, signed)
      const previous = signed?.shard === shard ? undefined : signed
      const hashes = leaves.map((leaf, nth) => {
        checkLeaf(leaf, from + nth, previous && checkpointOf(previous, publicKey))
        return leafOf(leaf)
      })
      held = { shard, frontier: extend(base.frontier, hashes) }
      return held.frontier.size
    },
    approve(body) {
      const { origin, size, root } = readBody(body)
      const shard = ownShard(origin, publicKey, signed)
      if (signed?.shard === shard && size < signed.frontier.size)
        throw refusal('size_regression', `Signed ${signed.frontier.size} leaves before: ${size}`)
      const head = [signed, held].find(
        (each) => each?.shard === shard && each.frontier.size === size,
      )
      if (head === undefined || size === 0) throw gap(shard, held, signed)
      if (!frontierRoot(head.frontier).equals(root)) {
        // Leaves that lead nowhere are given up, so that a client that erred can send the right ones.
        held = signed
        throw refusal('root_mismatch', `The leaves received give another tree head at size ${size}`)
      }
      if (head === signed) return
      save(head)
      signed = head
    },
  }
}

function readBody(body: string): Checkpoint {
  try {
    return parseCheckpoint(body)
  } catch (cause) {
    throw refusal('malformed', messageOf(cause), { cause })
  }
}

// The shard of an origin of our key that is not older than what we signed.
function ownShard(origin: string, publicKey: Buffer, signed: SignedHead | undefined): string {
  const shard = shardOf(origin, publicKey)
  if (shard === undefined)
    throw refusal('foreign_origin', `Not a log of this key (${originOf(publicKey, '')}): ${origin}`)
  if (signed !== undefined && compareShards(shard, signed.shard) < 0)
    throw refusal('shard_closed', `Shard ${signed.shard} has begun since: ${shard}`)
  return shard
}

const start = (shard: string, signed: SignedHead | undefined): SignedHead | undefined =>
  signed?.shard === shard ? undefined : { shard, frontier: EMPTY_FRONTIER }

const checkpointOf = ({ shard, frontier }: SignedHead, publicKey: Buffer): Checkpoint => ({
  origin: originOf(publicKey, shard),
  size: frontier.size,
  root: frontierRoot(frontier),
})

/** The details say how far the leaves held reach, and to where the signer can go back. */
function gap(shard: string, ...heads: (SignedHead | undefined)[]): ErgonError {
  const [held = 0, signed = 0] = heads.map((head) =>
    head?.shard === shard ? head.frontier.size : 0,
  )
  return refusal('gap', `The leaves do not follow those held: ${held}`, {
    details: { held, signed },
  })
}

/**
 * A charge must recompute from its own fields. The one leaf that is no charge is the first of a shard
 * that follows another: it has the sequence number 0, which no account uses, and names the last
 * checkpoint of the shard before. `previous` is what this signer signed there, if it was there.
 */
function checkLeaf(leaf: LeafContent, index: number, previous: Checkpoint | undefined): void {
  if (index === 0 && (previous !== undefined || leaf.accountSeq === 0n))
    return checkLink(leaf, previous)
  if (leaf.accountSeq === 0n) throw refusal('leaf_refused', `Sequence number 0 at leaf ${index}`)
  if (isPlainCharge(leaf.bytes)) return
  try {
    parseCharge(leaf.bytes)
  } catch (cause) {
    throw refusal('leaf_refused', `Leaf ${index}: ${messageOf(cause)}`, { cause })
  }
}

// Any three signers include one of the last three, so a new shard cannot deny what the old one signed.
function checkLink(leaf: LeafContent, previous: Checkpoint | undefined): void {
  if (leaf.accountSeq !== 0n)
    throw refusal('link_refused', 'A new shard must begin with the last checkpoint of the old one')
  const link = readBody(Buffer.from(leaf.bytes).toString('utf8'))
  if (previous === undefined) return
  const denied =
    link.origin !== previous.origin ||
    link.size < previous.size ||
    (link.size === previous.size && !link.root.equals(previous.root))
  if (denied)
    throw refusal(
      'link_refused',
      `Signed ${previous.size} leaves of ${previous.origin}: ${link.size}`,
    )
}
