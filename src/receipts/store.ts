// receipts/ turns posted charges into sealed receipts: it reads rows of the ledger in log order, has
// the tree head signed, keeps tiles, and proves. This file is all that it asks of storage.
import type { Checkpoint } from '#tlog/checkpoint.ts'
import type { LeafContent } from '#tlog/leaf.ts'
import type { ReceiptKey } from '#tlog/keys.ts'
import type { Tile, TileId } from '#tlog/tiles.ts'
import { LeafPage } from './leaf-page.ts'

/**
 * One log. `firstLeaf` is the ledger's leaf index of its first charge; `link`, when there was a shard
 * before, is the text of that one's last checkpoint, and takes leaf 0.
 */
export type Shard = ReceiptKey & {
  readonly firstLeaf: number
  readonly link: string | undefined
  readonly handover: string | undefined
}
export type SealedCheckpoint = Checkpoint & { readonly note: string }
export type StoredCharge = LeafContent & {
  readonly leafIndex: number
  readonly account: string
  readonly bytes: Buffer
}

export type ReceiptStore = {
  /** Oldest first. */
  shards(): Promise<readonly Shard[]>
  /** Keys of shards that were signed before the state was restored to an older one, which lacks them. */
  lostShards(): Promise<readonly ReceiptKey[]>
  /** Keeps those. */
  addLostShards(keys: readonly ReceiptKey[]): Promise<void>
  /**
   * `alarm` is what an alarm `receipts_set_back` says. Throws ErgonError `sealer_fenced` when another sealer has begun
   * since `epoch`.
   */
  openShard(epoch: number, shard: Shard, alarm?: object): Promise<void>
  latest(origin: string): Promise<SealedCheckpoint | undefined>
  /** Charges from a ledger leaf index on, in order and without gaps. */
  rows(from: number, limit: number): Promise<LeafPage>
  tiles(origin: string, wanted: readonly TileId[]): Promise<readonly Tile[]>
  /** All or nothing. Throws ErgonError `sealer_fenced` like openShard(). */
  saveCheckpoint(epoch: number, checkpoint: SealedCheckpoint, tiles: readonly Tile[]): Promise<void>
  /** The charge with a receipt id. One that is bundled is looked for among those of `accounts` alone. */
  charge(id: string, accounts?: readonly string[]): Promise<StoredCharge | undefined>
}

/** Where a charge stands in its shard's log. */
export const logIndexOf = (shard: Shard, leafIndex: number): number =>
  leafIndex - shard.firstLeaf + (shard.link === undefined ? 0 : 1)

/** The ledger's leaf index behind a place in a shard's log. */
export const leafIndexOf = (shard: Shard, logIndex: number): number =>
  logIndex + shard.firstLeaf - (shard.link === undefined ? 0 : 1)

/** The leaf that begins a shard after another: sequence number 0, which no account uses. */
export const linkLeaf = (link: string): LeafContent => ({
  accountSeq: 0n,
  bytes: Buffer.from(link),
})

/** Leaves of a shard's log from a place on; none when the ledger has none yet. */
export async function readLeaves(
  store: Pick<ReceiptStore, 'rows'>,
  shard: Shard,
  from: number,
  limit: number,
): Promise<LeafPage> {
  const head = from === 0 && shard.link !== undefined ? [linkLeaf(shard.link)] : []
  const page = await store.rows(leafIndexOf(shard, from + head.length), limit - head.length)
  return head.length === 0 ? page : LeafPage.of([...head, ...page.leaves()])
}
