// A shard of the log as clients see it: its key, signed head and tiles, and receipts of its charges.
import { equal } from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { leavesOf } from './charge.fixture.ts'
import { checkpointBody, formatNote, originOf, parseCheckpoint } from './checkpoint.ts'
import { PartMissing, tilesOf, type LogReader } from './history.ts'
import type { ReceiptKey } from './keys.ts'
import { leafOf, type LeafContent } from './leaf.ts'
import { formatReceipt } from './proof.ts'
import { EMPTY_EDGE, edgeFrontier, extendTiles, inclusionProof } from './tiles.ts'
import { frontierRoot } from './tree.ts'

/** A key that is held whole, in the place of the five shares. */
export const keyPair = () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) }
}
/**
 * A shard of a key as it would be published; `first` is what leaf 0 holds, the link if nothing else is said. `leaves`
 * gives the leaves behind it.
 */
export function makeShard(
  { publicKey, privateKey }: ReturnType<typeof keyPair>,
  shard: string,
  {
    count,
    link,
    first = link,
    leaves = leavesOf,
  }: { count: number; link?: string; first?: string; leaves?: typeof leavesOf },
) {
  const origin = originOf(publicKey, shard)
  const head: LeafContent[] =
    first === undefined ? [] : [{ accountSeq: 0n, bytes: Buffer.from(first) }]
  const { edge, written } = extendTiles(EMPTY_EDGE, [...head, ...leaves(0, count)].map(leafOf))
  const body = checkpointBody({
    origin,
    size: edge.size,
    root: frontierRoot(edgeFrontier(edge)),
  })
  const key: ReceiptKey = { origin, shard, publicKey, validFrom: '2026-01-01T00:00:00Z', link }
  const note = formatNote(body, sign(null, Buffer.from(body), privateKey), publicKey)
  const read: LogReader = {
    checkpoint: async () => note,
    async tile(of, { level, index, width }) {
      equal(of, origin)
      const tile = written.find((each) => each.level === level && each.index === index)
      if (tile === undefined || tile.hashes.length < width * 32)
        throw new PartMissing('no wider than a tree of that size has it')
      return tile.hashes.subarray(0, width * 32)
    },
  }
  /** The file of the receipt of `rcpt_<nth>`. */
  const receipt = async (nth: number): Promise<string> => {
    const index = nth + head.length
    const proof = await inclusionProof(index, edge.size, tilesOf(origin, edge.size, read))
    const [leaf] = leaves(nth, nth + 1)
    const { accountSeq = 0n, bytes = '' } = leaf ?? {}
    return formatReceipt({ accountSeq, bytes: Buffer.from(bytes), index, proof, checkpoint: note })
  }
  return { key, body, note, read, receipt, head: parseCheckpoint(body) }
}
export type Made = ReturnType<typeof makeShard>
