// The rule of a signer: it signs only the head of the one log that it has followed leaf by leaf. It computes
// each root itself, and writes a signed head to disk before it answers.
import { messageOf, type ErgonError } from '#base/errors.ts'
import { parseCharge } from '#contract/ledger/charge.ts'
import { isPlainCharge } from '#contract/ledger/plain-charge.ts'
import {
  compareShards,
  isSignedBy,
  originOf,
  parseCheckpoint,
  parseNote,
  shardOf,
  type Checkpoint,
} from '#tlog/checkpoint.ts'
import { leafOf, type LeafContent } from '#tlog/leaf.ts'
import { EMPTY_FRONTIER, extend, frontierRoot, type Frontier, type TreeHead } from '#tlog/tree.ts'
import { refusal } from './wire.ts'

/** The last head that was signed, with all that is needed to go on from it. */
export type SignedHead = { readonly shard: string; readonly frontier: Frontier }
/** Leaves in memory. `due` is a head that they must lead to before one of theirs is signed. */
type HeldLeaves = SignedHead & { readonly due?: TreeHead | undefined }

export type Guard = {
  /**
   * Takes the leaves that follow `from` in a log, checks each, and gives the size then reached. They
   * count as held in memory only: after a restart the signer goes on from its last signed head.
   * `voucher` is a note that the group signed, for a signer that missed a whole shard (`checkLink`).
   */
  offer(origin: string, from: number, leaves: readonly LeafContent[], voucher?: string): number
  /** Returns if the checkpoint may be signed; by then its head is on disk. Throws a refusal if not. */
  approve(body: string): void
  /** Keeps a note that the group signed, for the link of a later shard, when none newer is kept. */
  keep(note: string): void
  readonly signed: SignedHead | undefined
  readonly held: SignedHead | undefined
  /** The newest note kept. */
  readonly note: string | undefined
}

type GuardDeps = {
  readonly publicKey: Buffer
  readonly signed: SignedHead | undefined
  readonly note: string | undefined
  /** Must not return before the head is durable. */
  save(head: SignedHead): void
  saveNote(note: string): void
}

export function createGuard({ publicKey, saveNote, save, ...loaded }: GuardDeps): Guard {
  let { signed, note } = loaded
  let held: HeldLeaves | undefined = signed
  return {
    get signed() {
      return signed
    },
    get held() {
      return held
    },
    get note() {
      return note
    },
    keep(given) {
      const checkpoint = readVoucher(given, publicKey)
      if (note !== undefined && !isNewer(checkpoint, readVoucher(note, publicKey), publicKey))
        return
      saveNote(given)
      note = given
    },
    offer(origin, from, leaves, voucher) {
      const shard = ownShard(origin, publicKey, signed)
      const base = [held, signed, start(shard, signed)].find(
        (head): head is HeldLeaves => head?.shard === shard && head.frontier.size === from,
      )
      if (base === undefined) throw gap(shard, held, signed)
      const [first] = leaves
      const previous = signed?.shard === shard ? undefined : signed
      const isLink = from === 0 && (previous !== undefined || first?.accountSeq === 0n)
      const due =
        isLink && first !== undefined
          ? checkLink(first, { publicKey, shard, previous, voucher })
          : base.due
      const hashes = leaves.map((leaf, nth) => {
        if (!isLink || nth > 0) checkCharge(leaf, from + nth)
        return leafOf(leaf)
      })
      held = { shard, ...follow(base.frontier, hashes, due) }
      return held.frontier.size
    },
    approve(body) {
      const { origin, size, root } = readBody(body)
      const shard = ownShard(origin, publicKey, signed)
      if (signed?.shard === shard && size < signed.frontier.size)
        throw refusal('size_regression', `Signed ${signed.frontier.size} leaves before: ${size}`)
      const head = [signed, held].find(
        (each): each is HeldLeaves => each?.shard === shard && each.frontier.size === size,
      )
      if (head === undefined || size === 0) throw gap(shard, held, signed)
      if (head.due !== undefined)
        throw refusal('link_refused', `The leaves end before the ${head.due.size} signed by others`)
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

// The shard of an origin of our key that is not older than our last signed one.
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

/** A charge must recompute from its own fields. Sequence number 0, which no account uses, is the link's. */
function checkCharge(leaf: LeafContent, index: number): void {
  if (leaf.accountSeq === 0n) throw refusal('leaf_refused', `Sequence number 0 at leaf ${index}`)
  if (isPlainCharge(leaf.bytes)) return
  try {
    parseCharge(leaf.bytes)
  } catch (cause) {
    throw refusal('leaf_refused', `Leaf ${index}: ${messageOf(cause)}`, { cause })
  }
}

type Begun = {
  readonly publicKey: Buffer
  readonly shard: string
  /** The last head that this signer signed in an earlier shard; undefined for a new signer. */
  readonly previous: SignedHead | undefined
  readonly voucher: string | undefined
}

/**
 * Checks the first leaf of a shard that follows another: it names the last checkpoint of the shard before. That is the
 * head that this signer signed last, or, for a signer that missed later heads, a head with a voucher: a note of it by
 * the group's key. Any three signers include one of the last three, so a new shard cannot deny what the old one signed.
 * Without a voucher a false coordinator could invent later heads, and lead all signers past those that they signed.
 *
 * A note of the new shard itself vouches too, because three signers accepted its link. Then this returns the note's
 * head, to which the leaves must lead.
 */
function checkLink(leaf: LeafContent, begun: Begun): TreeHead | undefined {
  if (leaf.accountSeq !== 0n)
    throw refusal('link_refused', 'A new shard must begin with the last checkpoint of the old one')
  const { publicKey, shard, previous } = begun
  const link = readBody(Buffer.from(leaf.bytes).toString('utf8'))
  if (previous === undefined) return undefined
  const own = checkpointOf(previous, publicKey)
  if (isSame(link, own)) return undefined
  const vouched = begun.voucher === undefined ? undefined : readVoucher(begun.voucher, publicKey)
  if (vouched?.origin === originOf(publicKey, shard)) return vouched
  const named = shardOf(link.origin, publicKey)
  const isBefore = named !== undefined && compareShards(named, shard) < 0
  if (vouched !== undefined && isBefore && isSame(link, vouched) && isNewer(link, own, publicKey))
    return undefined
  throw refusal(
    'link_refused',
    `Signed ${own.size} leaves of ${own.origin}, and nothing vouches for ${link.size} of ${link.origin}`,
  )
}

const isSame = (a: Checkpoint, b: Checkpoint): boolean =>
  a.origin === b.origin && a.size === b.size && a.root.equals(b.root)

/** True when a checkpoint of the key's logs comes after another. */
function isNewer(a: Checkpoint, b: Checkpoint, publicKey: Buffer): boolean {
  const [shardA = '', shardB = ''] = [a, b].map(({ origin }) => shardOf(origin, publicKey))
  return (compareShards(shardA, shardB) || a.size - b.size) > 0
}

/** The checkpoint of a note that the group's key signed. */
function readVoucher(text: string, publicKey: Buffer): Checkpoint {
  let note
  try {
    note = parseNote(text)
  } catch (cause) {
    throw refusal('malformed', messageOf(cause), { cause })
  }
  const checkpoint = readBody(note.body)
  if (!isSignedBy(note, checkpoint.origin, publicKey))
    throw refusal('link_refused', `The voucher of ${checkpoint.origin} has no signature of the key`)
  return checkpoint
}

/** The frontier after the leaves, which must lead to the head that is due. */
function follow(
  from: Frontier,
  hashes: readonly Buffer[],
  due: TreeHead | undefined,
): Pick<HeldLeaves, 'frontier' | 'due'> {
  const before = due === undefined ? Infinity : due.size - from.size
  if (due === undefined || before > hashes.length) return { frontier: extend(from, hashes), due }
  const passed = extend(from, hashes.slice(0, before))
  if (!frontierRoot(passed).equals(due.root))
    throw refusal('link_refused', `The leaves lead past the ${due.size} signed by others`)
  return { frontier: extend(passed, hashes.slice(before)) }
}
