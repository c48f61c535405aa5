// The public reads of the log: a receipt, the keys, a checkpoint, a tile.
import type { ReceiptKey } from '#tlog/keys.ts'
import { HASH_BYTES } from '#tlog/leaf.ts'
import type { Receipt } from '#tlog/proof.ts'
import { inclusionProof, type TileId } from '#tlog/tiles.ts'
import { keysOf } from './batch.ts'
import { logIndexOf, type ReceiptStore } from './store.ts'

/** `account` owns the charge; the caller decides who may read it. */
export type ReceiptAnswer =
  | { readonly state: 'unknown' }
  | { readonly state: 'unsealed'; readonly account: string }
  | { readonly state: 'sealed'; readonly account: string; readonly receipt: Receipt }

export type Receipts = {
  /**
   * The receipt with an id; print it with formatReceipt() or receiptJson() of tlog/proof.ts. `accounts` are those that
   * the caller may see: an old charge is looked for among theirs alone.
   */
  find(id: string, accounts?: readonly string[]): Promise<ReceiptAnswer>
  keys(): Promise<readonly ReceiptKey[]>
  /** The newest signed note of a shard. */
  checkpoint(origin: string): Promise<string | undefined>
  /** The first `width` hashes of a tile, if a signed checkpoint covers them. */
  tile(origin: string, id: TileId & { width: number }): Promise<Buffer | undefined>
}

export function createReceipts({ store }: { store: ReceiptStore }): Receipts {
  return {
    async find(id, accounts) {
      const charge = await store.charge(id, accounts)
      if (charge === undefined) return { state: 'unknown' }
      const { account, accountSeq, bytes, leafIndex } = charge
      const shard = (await store.shards()).findLast((each) => each.firstLeaf <= leafIndex)
      const checkpoint = shard && (await store.latest(shard.origin))
      if (shard === undefined || checkpoint === undefined) return { state: 'unsealed', account }
      const index = logIndexOf(shard, leafIndex)
      if (index >= checkpoint.size) return { state: 'unsealed', account }
      const proof = await inclusionProof(index, checkpoint.size, (wanted) =>
        store.tiles(shard.origin, wanted),
      )
      const receipt = { accountSeq, bytes, index, proof, checkpoint: checkpoint.note }
      return { state: 'sealed', account, receipt }
    },
    keys: () => keysOf(store),
    checkpoint: async (origin) => (await store.latest(origin))?.note,
    async tile(origin, { level, index, width }) {
      const [stored] = await store.tiles(origin, [{ level, index }])
      const bytes = width * HASH_BYTES
      return stored === undefined || stored.hashes.length < bytes
        ? undefined
        : stored.hashes.subarray(0, bytes)
    },
  }
}
