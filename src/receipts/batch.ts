// Receipts of many charges, all proven against the tree heads of one moment.
import { createProver, type Prover } from '#tlog/prover.ts'
import type { ReceiptKey } from '#tlog/keys.ts'
import type { Receipt } from '#tlog/proof.ts'
import type { AccountCharge } from '#ledger/account-charges.ts'
import { logIndexOf, type ReceiptStore, type Shard } from './store.ts'
import { present } from '#base/errors.ts'

export interface ReceiptBatches {
  /** True when the charge is below a signed tree head of that moment. */
  isSealed(leafIndex: number): boolean
  /** The receipts of sealed charges, in their order. */
  of(charges: readonly AccountCharge[]): Promise<readonly Receipt[]>
}

type Log = {
  readonly shard: Shard
  readonly size: number
  readonly note: string
  readonly prover: Prover
}

/** Takes the newest tree head of each log. */
export async function openReceiptBatches(
  store: Pick<ReceiptStore, 'shards' | 'latest' | 'tiles'>,
): Promise<ReceiptBatches> {
  const logs: Log[] = []
  for (const shard of await store.shards()) {
    const head = await store.latest(shard.origin)
    const size = head?.size ?? 0
    const prover = createProver(size, (wanted) => store.tiles(shard.origin, wanted))
    logs.push({ shard, size, note: head?.note ?? '', prover })
  }
  const logOf = (leafIndex: number) => logs.findLast(({ shard }) => shard.firstLeaf <= leafIndex)
  return {
    isSealed(leafIndex) {
      const log = logOf(leafIndex)
      return log !== undefined && logIndexOf(log.shard, leafIndex) < log.size
    },
    async of(charges) {
      const receipts: Receipt[] = []
      for (let first = 0; first < charges.length;) {
        const log = logOf(present(charges[first], 'a charge').leafIndex)
        const { shard, note, prover } = present(log, 'a sealed charge has a log')
        const end = charges.findIndex(
          ({ leafIndex }, nth) => nth > first && logOf(leafIndex) !== log,
        )
        const ours = charges.slice(first, end < 0 ? charges.length : end)
        const indices = ours.map(({ leafIndex }) => logIndexOf(shard, leafIndex))
        const proofs = await prover.prove(indices)
        ours.forEach(({ accountSeq, bytes }, nth) => {
          const [index = 0, proof = []] = [indices[nth], proofs[nth]]
          receipts.push({ accountSeq, bytes, index, proof, checkpoint: note })
        })
        first += ours.length
      }
      return receipts
    },
  }
}

/** The keys of all logs, as the service publishes them. */
export async function keysOf(
  store: Pick<ReceiptStore, 'shards' | 'lostShards'>,
): Promise<readonly ReceiptKey[]> {
  const [shards, lost] = await Promise.all([store.shards(), store.lostShards()])
  return [...shards, ...lost].toSorted((a, b) => (a.validFrom < b.validFrom ? -1 : 1))
}
