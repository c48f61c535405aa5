// A signer's folder: share.json (its part of the key), share.pending.json (while a key is made), head.json (the head
// that it signed last) and note.txt (the group's signature of a head). Files are replaced whole; all except the note
// are fsynced, folder included.
//
// The share is not encrypted at rest: its key would lie on the same disk for the same user, and would keep out
// nobody whom mode 0600 in a folder 0700 does not. For more protection give each signer its own host and an
// encrypted disk; one share alone signs nothing.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, timestamp, type Clock } from '#base/clock.ts'
import { writeDurably } from '#base/durable-file.ts'
import { type ErgonError, invariant } from '#base/errors.ts'
import { fault } from '#contract/errors.ts'
import { isSignedBy, parseCheckpoint, parseNote } from '#tlog/checkpoint.ts'
import { HASH_BYTES } from '#tlog/leaf.ts'
import { isFrontier } from '#tlog/tree.ts'
import { decode } from './frost-group.ts'
import { publicKeyOf, type KeyShare } from './frost-key.ts'
import type { SignedHead } from './guard.ts'
import type { SignedShard } from './wire.ts'

/** `handover` is the word of the key before, where this one followed another. */
export type ActiveShare = KeyShare & { readonly handover?: string }

export type KeyStore = {
  readonly active: ActiveShare | undefined
  readonly pending: KeyShare | undefined
  /** Keeps the share of a key that is being made; replaces an earlier pending one. */
  savePending(share: KeyShare): void
  /** Makes the pending share the one that signs; in the place of another only by the word of that one's key. */
  activate(handover: string | undefined): void
  readonly signed: SignedHead | undefined
  /** All shards that were signed, the oldest first: no backup of the ledger makes them forgotten. */
  readonly shards: readonly SignedShard[]
  saveSigned(head: SignedHead): void
  /** The newest note of the key's group that the signer was given. */
  readonly note: string | undefined
  /** A note that a crash loses was no promise, so it is not synced. */
  saveNote(note: string): void
}

type Saved = {
  /** The key that signed it, base64. Not in files from before it was kept. */
  readonly key?: string
  readonly shard: string | null
  readonly size: number
  readonly frontier: string[]
  /** Not in files from before it was kept: then the one that was signed last is known. */
  readonly shards?: readonly SignedShard[]
}

export function openKeyStore(folder: string, clock: Clock = systemClock): KeyStore {
  const path = {
    share: join(folder, 'share.json'),
    pending: join(folder, 'share.pending.json'),
    head: join(folder, 'head.json'),
    note: join(folder, 'note.txt'),
  }
  let active = readJson(path.share) as ActiveShare | undefined
  let pending = readJson(path.pending) as KeyShare | undefined
  let signed = readHead(path.head, active)
  let shards = signed === undefined ? [] : readShards(path.head, signed.shard, clock)
  let note = active && readNote(path.note, active)
  function writeHead(saved: Omit<Saved, 'key'>, share: KeyShare): void {
    writeDurably(path.head, JSON.stringify({ key: keyOf(share), ...saved }), MODE)
  }
  return {
    get active() {
      return active
    },
    get pending() {
      return pending
    },
    get signed() {
      return signed
    },
    get shards() {
      return shards
    },
    get note() {
      return note
    },
    saveNote(given) {
      const fresh = `${path.note}.new`
      writeFileSync(fresh, given, { mode: MODE })
      renameSync(fresh, path.note)
      note = given
    },
    savePending(share) {
      writeDurably(path.pending, JSON.stringify(share), MODE)
      pending = share
    },
    activate(handover) {
      invariant(pending !== undefined, 'activate() without a pending share')
      invariant(active === undefined || handover !== undefined, 'activate() over another share')
      const next: ActiveShare = handover === undefined ? pending : { ...pending, handover }
      // A head goes first: a share without one is refused at the next start, because a signer that forgot what
      // it signed could sign a second history. While another share is in use it is that one's head, with its name.
      if (active === undefined) writeHead(NOTHING_SIGNED, next)
      else writeHead(savedOf(signed, shards), active)
      // A pending file that a crash leaves beside the share means nothing any more.
      writeDurably(path.share, JSON.stringify(next), MODE)
      if (active !== undefined) writeHead(NOTHING_SIGNED, next)
      rmSync(path.pending, { force: true })
      active = next
      pending = undefined
      // A head that another share left behind is not of this key.
      signed = undefined
      shards = []
      note = undefined
    },
    saveSigned(head) {
      invariant(active !== undefined, 'saveSigned() without a share')
      if (shards.every(({ shard }) => shard !== head.shard))
        shards = [...shards, { shard: head.shard, since: timestamp(clock.wallMs()) }]
      writeHead(savedOf(head, shards), active)
      signed = head
    },
  }
}

const MODE = 0o600
const NOTHING_SIGNED: Saved = { shard: null, size: 0, frontier: [] }

const keyOf = (share: KeyShare): string => publicKeyOf(share.group).toString('base64')

function savedOf(head: SignedHead | undefined, shards: readonly SignedShard[]): Saved {
  if (head === undefined) return NOTHING_SIGNED
  const { size, hashes } = head.frontier
  return {
    shard: head.shard,
    size,
    frontier: hashes.map((hash) => hash.toString('base64')),
    shards,
  }
}

function readHead(path: string, active: ActiveShare | undefined): SignedHead | undefined {
  const saved = readJson(path) as Saved | undefined
  if (saved === undefined) {
    if (active !== undefined) throw damaged(path)
    return undefined
  }
  if (active !== undefined && saved.key !== undefined && saved.key !== keyOf(active)) {
    // A crash between the share of a key that followed another and its first head.
    if (active.handover !== undefined) return undefined
    throw damaged(path)
  }
  if (saved.shard === null) return undefined
  const hashes = saved.frontier.map((hash) => Buffer.from(decode(hash, HASH_BYTES)))
  const frontier = { size: saved.size, hashes }
  if (!isFrontier(frontier)) throw damaged(path)
  return { shard: saved.shard, frontier }
}

const readShards = (path: string, last: string, clock: Clock): readonly SignedShard[] =>
  (readJson(path) as Saved).shards ?? [{ shard: last, since: timestamp(clock.wallMs()) }]

/** The note in a file, if the share's group signed it. */
function readNote(path: string, { group }: KeyShare): string | undefined {
  try {
    const text = readFileSync(path, 'utf8')
    const note = parseNote(text)
    return isSignedBy(note, parseCheckpoint(note.body).origin, publicKeyOf(group))
      ? text
      : undefined
  } catch {
    return undefined
  }
}

function readJson(path: string): unknown {
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw damaged(path, cause)
  }
}

const damaged = (path: string, cause?: unknown): ErgonError =>
  fault('signer_damaged', `Could not read what the signer kept: ${path}`, { cause })
