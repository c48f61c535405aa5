// A log of receipts that is sealed by a key of the test, over charges of accounts in a real state.
import { generateKeyPairSync, sign } from 'node:crypto'
import { chargeBytes, type Charge } from '#contract/ledger/charge.ts'
import type { State } from '#state/connect.ts'
import { checkpointBody, formatNote, originOf } from '#tlog/checkpoint.ts'
import { receiptKeysJson, type ReceiptKeysJson } from '#tlog/keys.ts'
import { leafOf } from '#tlog/leaf.ts'
import { formatReceipt } from '#tlog/proof.ts'
import { edgeFrontier, EMPTY_EDGE, extendTiles } from '#tlog/tiles.ts'
import { frontierRoot } from '#tlog/tree.ts'

export type SealedLog = {
  /** Posts charges, with the next numbers of their accounts. */
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

export async function openSealedLog(state: State): Promise<SealedLog> {
  const pair = generateKeyPairSync('ed25519')
  const publicKey = pair.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const noteOf = (body: string) =>
    formatNote(body, sign(null, Buffer.from(body), pair.privateKey), publicKey)
  const origin = originOf(publicKey, SHARDS[0])
  await state.query(
    `insert into receipt_shards (origin, shard, public_key, first_leaf, valid_from) values ($1, $2, $3, 0, now())`,
    [origin, SHARDS[0], publicKey],
  )
  let edge = EMPTY_EDGE
  const counts = new Map<string, number>()
  const numberOf = (account: string) => {
    const number = (counts.get(account) ?? 0) + 1
    counts.set(account, number)
    return number
  }
  return {
    async post(charges) {
      const first = edge.size
      const bytes = charges.map(chargeBytes)
      const numbers = charges.map(({ account }) => numberOf(account))
      await insertCharges(state, { first, charges, numbers, bytes })
      const leaves = bytes.map((one, nth) =>
        leafOf({ accountSeq: BigInt(numbers[nth] ?? 0), bytes: one }),
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
      if (size === 0) return
      const root = frontierRoot(edgeFrontier(edge))
      await state.query(
        `insert into receipt_checkpoints (origin, size, root, note) values ($1, $2, $3, $4)
         on conflict do nothing`,
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
  /** The leaf of the first one. */
  readonly first: number
  readonly charges: readonly Charge[]
  readonly numbers: readonly number[]
  readonly bytes: readonly Buffer[]
}

const INSERT = `
  insert into charges (session, seq, id, account, account_seq, leaf_index, operation, resource, status, energy_nj,
    carbon_pg, charge_pusd, free, to_at, hash, bytes)
  select session, seq, id, account, number, $1::bigint + n - 1, operation, split_part(resource, ':', 2), status,
    energy, carbon, price, free, at, '', bytes
  from unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::text[], $8::text[], $9::int[],
    $10::numeric[], $11::numeric[], $12::numeric[], $13::boolean[], $14::timestamptz[], $15::bytea[])
    with ordinality as made (session, seq, id, account, number, operation, resource, status, energy, carbon, price,
      free, at, bytes, n)`

const insertCharges = (state: State, { first, charges, numbers, bytes }: Posting) => {
  const all = <Value>(of: (charge: Charge) => Value): Value[] => charges.map(of)
  return state.query(INSERT, [
    first,
    all(({ session }) => session),
    all(({ seq }) => seq),
    all(({ id }) => id),
    all(({ account }) => account),
    numbers,
    all(({ operation }) => operation),
    all(({ resource }) => resource ?? null),
    all(({ status }) => status),
    all(({ energy_nj: energy }) => energy),
    all(({ carbon_pg: carbon }) => carbon),
    all(({ charge_pusd: price }) => price),
    all(({ free }) => free),
    all(({ to }) => to),
    bytes,
  ])
}
