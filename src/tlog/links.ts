// Checks that a new shard continues a pinned log: its first leaf must name the last tree head of that log.
// Otherwise the holder of the key could begin a second history beside the first.
import { messageOf } from '#base/errors.ts'
import {
  compareShards,
  isSignedBy,
  parseCheckpoint,
  parseNote,
  shardOf,
  type Checkpoint,
} from './checkpoint.ts'
import type { ReceiptKey } from './keys.ts'
import { isHandover } from './handover.ts'
import { historyFault, tilesOf, UnreadableLog, watchedReader, type LogReader } from './history.ts'
import { leafOf } from './leaf.ts'
import { inclusionProof } from './tiles.ts'
import { inclusionRoot, type TreeHead } from './tree.ts'

/** The pins of a reader of receipts: keys, and the newest tree head of each log. */
export type Pinned = {
  readonly keys: readonly ReceiptKey[]
  readonly heads: ReadonlyMap<string, TreeHead>
}

/** A log that a service publishes and that no pinned log vouches for, with the reason in words. */
export type RefusedKey = {
  readonly origin: string
  readonly why: string
  readonly isNewKey: boolean
  /** The log could not be read now: nothing speaks against its key, and a later try may vouch for the key. */
  readonly isUnread: boolean
}

/**
 * The logs that a service publishes: those that the pinned logs vouch for, and the others. A log of another key also
 * needs the word of the pinned key, or `acceptNewKey`. Pinned logs are in neither list.
 */
export async function vouchedKeys(
  offered: readonly ReceiptKey[],
  pinned: Pinned,
  { acceptNewKey, read }: { readonly acceptNewKey: boolean; readonly read: LogReader },
): Promise<{ readonly added: readonly ReceiptKey[]; readonly refused: readonly RefusedKey[] }> {
  const added: ReceiptKey[] = []
  const refused: RefusedKey[] = []
  const fresh = offered
    .filter(({ origin }) => pinned.keys.every((known) => known.origin !== origin))
    .toSorted((a, b) => compareShards(a.shard, b.shard))
  for (const key of fresh) {
    const { origin } = key
    const keys = [...pinned.keys, ...added]
    const isOther = isNewKey(key, keys)
    const refusal =
      isOther && !acceptNewKey && !isHandedOver(key, keys)
        ? { why: `another key signs it: ${key.publicKey.toString('hex')}`, isUnread: false }
        : await linkRefusal(key, { ...pinned, keys }, read)
    if (refusal !== undefined) refused.push({ origin, isNewKey: isOther, ...refusal })
    else added.push(key)
  }
  return { added, refused }
}

async function linkRefusal(
  key: ReceiptKey,
  pinned: Pinned,
  read: LogReader,
): Promise<Pick<RefusedKey, 'why' | 'isUnread'> | undefined> {
  try {
    const why = await linkFault(key, pinned, read)
    return why === undefined ? undefined : { why, isUnread: false }
  } catch (error) {
    if (error instanceof UnreadableLog) return { why: error.message, isUnread: true }
    throw error
  }
}

/**
 * Why a shard does not follow a pinned one, in words; undefined when it is proven that it does. Rejects with
 * UnreadableLog where the service could not be asked.
 */
export async function linkFault(
  key: ReceiptKey,
  pinned: Pinned,
  reader: LogReader,
): Promise<string | undefined> {
  const read = watchedReader(reader)
  try {
    if (key.link === undefined) return 'it names no log before it'
    const link = parseCheckpoint(key.link)
    const before = pinned.keys.find(({ origin }) => origin === link.origin)
    if (before === undefined) return `it follows ${link.origin}, which is not pinned`
    if (compareShards(before.shard, key.shard) >= 0) return `it is not newer than ${before.origin}`
    const seen = pinned.heads.get(before.origin)
    if (seen !== undefined && (await isDenied(seen, link, read)))
      return `it follows ${link.size} leaves of ${before.origin}, of which other ${seen.size} were seen`
    return await inclusionFault(key, key.link, read)
  } catch (error) {
    if (error instanceof UnreadableLog) throw error
    return `what it follows cannot be checked: ${messageOf(error)}`
  }
}

/** True when a later head leaves out, or contradicts, a head that was seen. */
async function isDenied(seen: TreeHead, later: Checkpoint, read: LogReader): Promise<boolean> {
  if (later.size < seen.size) return true
  // Leaves that a restore took away have no tiles any more: nobody can prove that they continued the seen log, and the
  // new shard itself states that they are gone. A service that could not be asked has taken nothing away.
  const fault = await historyFault(seen, later, read).catch((error: unknown) => {
    if (error instanceof UnreadableLog) throw error
    return undefined
  })
  return fault !== undefined
}

async function inclusionFault(
  key: ReceiptKey,
  link: string,
  read: LogReader,
): Promise<string | undefined> {
  const note = parseNote(await read.checkpoint(key.origin))
  const { origin, size, root } = parseCheckpoint(note.body)
  if (origin !== key.origin || !isSignedBy(note, key.origin, key.publicKey))
    return 'its checkpoint is not signed by its key'
  const leaf = leafOf({ accountSeq: 0n, bytes: Buffer.from(link) })
  const proof = await inclusionProof(0, size, tilesOf(key.origin, size, read))
  const led = inclusionRoot({ index: 0, size, leaf, proof })
  return led?.equals(root) === true ? undefined : 'its first leaf names no log before it'
}

/** True when the key of the preceding pinned log names this key as its successor. */
export function isHandedOver(
  { publicKey, link, handover }: ReceiptKey,
  keys: readonly ReceiptKey[],
): boolean {
  const before = keys.find(({ origin }) => link?.startsWith(`${origin}\n`) === true)
  return (
    before !== undefined &&
    handover !== undefined &&
    isHandover(handover, before.publicKey, publicKey)
  )
}

/** True when a key signs none of the pinned logs. */
export const isNewKey = (key: ReceiptKey, keys: readonly ReceiptKey[]): boolean =>
  keys.every(({ publicKey }) => shardOf(key.origin, publicKey) === undefined)
