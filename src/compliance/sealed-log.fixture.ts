// A log of receipts that is sealed by a key of the test, over charges of one account in a real state.
import { generateKeyPairSync, sign } from 'node:crypto'
import { chargeBytes, type Charge } from '#contract/charge.ts'
import type { State } from '#state/connect.ts'
import { checkpointBody, formatNote, originOf } from '#tlog/checkpoint.ts'
import { receiptKeysJson, type ReceiptKeysJson } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { formatReceipt } from '#tlog/proof.ts'
import { edgeFrontier, EMPTY_EDGE, extendTiles } from '#tlog/tiles.ts'
import { frontierRoot } from '#tlog/tree.ts'

export type SealedLog = {
  /** Posts charges, with the next numbers. */
  post(charges: readonly Charge[]): Promise<void>
  /** Signs a tree head over all that is posted. */
  seal(): Promise<void>
  /** The receipt of a charge that is alone in a log of its own, by the same key. */
  receiptOf(charge: Charge): string
  /** The page of keys. */
  keys(): ReceiptKeysJson
}

const SHARDS = ['2026', '2026.1'] as const
const VALID_FROM = '2026-01-01T00:00:00.000Z'

export async function openSealedLog(state: State, account: string): Promise<SealedLog> {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const noteOf = (body: string) =>
    formatNote(body, sign(null, Buffer.from(body), pair.privateKey), publicKey)
  const origin = originOf(publicKey, SHARDS[0])
  await state.query(`insert into accounts (id, env) values ($1, 'live')`, [account])
  await state.query(
    `insert into receipt_shards (origin, shard, public_key, first_leaf, valid_from) values ($1, $2, $3, 0, now())`,
    [origin, SHARDS[0], publicKey],
  )
  let edge = EMPTY_EDGE
  return {
    async post(charges) {
      const first = edge.size
      const bytes = charges.map(chargeBytes)
      await insertCharges(state, { account, first, charges, bytes })
      const leaves = bytes.map((one, nth) =>
        leafOf({ accountSeq: BigInt(first + nth + 1), bytes: one }),
      )
      const grown = extendTiles(edge, leaves)
      edge = grown.edge
      for (const { level, index, hashes } of grown.written)
        await state.query(
          `insert into receipt_tiles (origin, level, index, hashes) values ($1, $2, $3, $4)
           on conflict (origin, level, index) do update set hashes = excluded.hashes`,
          [origin, level, index, hashes],
        )
    },
    async seal() {
      const { size } = edge
      const root = frontierRoot(edgeFrontier(edge))
      await state.query(
        'insert into receipt_checkpoints (origin, size, root, note) values ($1, $2, $3, $4)',
        [origin, size, root, noteOf(checkpointBody({ origin, size, root }))],
      )
    },
    receiptOf(charge) {
      const content = { accountSeq: 1n, bytes: chargeBytes(charge) }
      const head = { origin: originOf(publicKey, SHARDS[1]), size: 1, root: leafOf(content) }
      const checkpoint = noteOf(checkpointBody(head))
      return formatReceipt({ ...content, index: 0, proof: [], checkpoint })
    },
    keys: () =>
      receiptKeysJson(
        SHARDS.map((shard) => {
          return { origin: originOf(publicKey, shard), shard, publicKey, validFrom: VALID_FROM }
        }),
      ),
  }
}

type Posting = {
  readonly account: string
  readonly first: number
  readonly charges: readonly Charge[]
  readonly bytes: readonly Buffer[]
}

const insertCharges = (state: State, { account, first, charges, bytes }: Posting) =>
  state.query(
    `insert into charges (session, seq, id, account, account_seq, leaf_index, operation, status, energy_nj,
       carbon_pg, charge_pusd, free, to_at, hash, bytes)
     select 'gw-1.1', $1::bigint + n, id, $2, $1::bigint + n, $1::bigint + n - 1, 'chat.create', 200, 0, 0, 0, false,
       at, '', bytes
     from unnest($3::text[], $4::timestamptz[], $5::bytea[]) with ordinality as made (id, at, bytes, n)`,
    [first, account, charges.map(({ id }) => id), charges.map(({ to }) => to), bytes],
  )
