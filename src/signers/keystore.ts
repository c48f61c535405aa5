// A signer's folder: share.json (its part of the key), share.pending.json (while a key is made) and
// head.json (what it signed last). Files are replaced whole and fsynced, folder included.
//
// The share is not encrypted at rest: the key for that would have to lie on the same disk for the same
// user, and would keep out nobody whom mode 0600 in a folder 0700 does not. Whoever wants more gives
// each signer its own host and an encrypted disk; one share alone signs nothing.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock, timestamp, type Clock } from '#base/clock.ts'
import { writeDurably } from '#base/durable-file.ts'
import { ErgonError, invariant } from '#base/errors.ts'
import { HASH_BYTES } from '#tlog/leaf.ts'
import { isFrontier } from '#tlog/tree.ts'
import { decode } from './frost-group.ts'
import type { KeyShare } from './frost-key.ts'
import type { SignedHead } from './guard.ts'
import type { SignedShard } from './wire.ts'

export type KeyStore = {
  readonly active: KeyShare | undefined
  readonly pending: KeyShare | undefined
  /** Keeps the share of a key that is being made; replaces an earlier pending one. */
  savePending(share: KeyShare): void
  /** Makes the pending share the one that signs, for good. */
  activate(): void
  readonly signed: SignedHead | undefined
  /** All shards that were signed, the oldest first: no backup of the ledger makes them forgotten. */
  readonly shards: readonly SignedShard[]
  saveSigned(head: SignedHead): void
}

type Saved = {
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
  }
  let active = readJson(path.share) as KeyShare | undefined
  let pending = readJson(path.pending) as KeyShare | undefined
  let signed = readHead(path.head, active !== undefined)
  let shards = signed === undefined ? [] : readShards(path.head, signed.shard, clock)
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
    savePending(share) {
      writeDurably(path.pending, JSON.stringify(share), MODE)
      pending = share
    },
    activate() {
      invariant(active === undefined && pending !== undefined, 'activate() without a pending share')
      // The empty head goes first: a share without a head is refused at the next start, because a
      // signer that forgot what it signed could sign a second history.
      writeDurably(path.head, JSON.stringify(NOTHING_SIGNED), MODE)
      // A pending file that a crash leaves beside the share means nothing any more.
      writeDurably(path.share, JSON.stringify(pending), MODE)
      rmSync(path.pending, { force: true })
      active = pending
      pending = undefined
      // A head that a lost share left behind is not of this key.
      signed = undefined
      shards = []
    },
    saveSigned(head) {
      const { size, hashes } = head.frontier
      const frontier = hashes.map((hash) => hash.toString('base64'))
      if (shards.every(({ shard }) => shard !== head.shard))
        shards = [...shards, { shard: head.shard, since: timestamp(clock.wallMs()) }]
      const saved: Saved = { shard: head.shard, size, frontier, shards }
      writeDurably(path.head, JSON.stringify(saved), MODE)
      signed = head
    },
  }
}

const MODE = 0o600
const NOTHING_SIGNED: Saved = { shard: null, size: 0, frontier: [] }

function readHead(path: string, needed: boolean): SignedHead | undefined {
  const saved = readJson(path) as Saved | undefined
  if (saved === undefined) {
    if (needed) throw damaged(path)
    return undefined
  }
  if (saved.shard === null) return undefined
  const hashes = saved.frontier.map((hash) => Buffer.from(decode(hash, HASH_BYTES)))
  const frontier = { size: saved.size, hashes }
  if (!isFrontier(frontier)) throw damaged(path)
  return { shard: saved.shard, frontier }
}

const readShards = (path: string, last: string, clock: Clock): readonly SignedShard[] =>
  (readJson(path) as Saved).shards ?? [{ shard: last, since: timestamp(clock.wallMs()) }]

function readJson(path: string): unknown {
  if (!existsSync(path)) return undefined
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw damaged(path, cause)
  }
}

const damaged = (path: string, cause?: unknown): ErgonError =>
  new ErgonError(
    { code: 'signer_damaged', status: 500 },
    `Could not read what the signer kept: ${path}`,
    { cause },
  )
