// Packs old charges of an account: one transaction writes a pack, reads it back, compares it with the log and with the
// rows, and takes the rows away. Nothing of it is seen before its end, so a kill at any moment changes nothing.
import { invariant, present } from '#base/errors.ts'
import { writePack } from '#ledger/packs/pack.ts'
import type { PackedCharge } from '#ledger/packs/packed-charge.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { sha256 } from '#tlog/leaf.ts'
import type { Queryable, SqlRow, State } from '#state/connect.ts'
import { factsOf, packCharges, packFault, type PackRow } from './prove-pack.ts'
import { sealedLeaves } from './sealed-leaves.ts'

/** Charges of a pack, at most: one is read in 3 ms, and a page needs one or two. */
export const PACK_CHARGES = 2000
/** Fewer wait: what a pack says once would be most of it. */
export const PACK_CHARGES_MIN = 128

/** A pack that is not what it was made of; nothing was changed. */
export class PackError extends Error {
  readonly account: string
  constructor(account: string, why: string) {
    super(`Could not pack charges of ${account}: ${why}`)
    this.account = account
  }
}

type ChargeRow = SqlRow & {
  account_seq: string
  leaf_index: string
  hash: Buffer
  bytes: Buffer
}

/**
 * Packs the oldest charges of an account that are rows; the number of them. They ended before a time, and their numbers
 * are at most `until`.
 */
export async function packOldest(
  state: State,
  account: string,
  { before, until }: { readonly before: Date; readonly until: string | null },
): Promise<number> {
  const shards = await createSqlReceiptStore(state).shards()
  return await state.transaction(async (transaction) => {
    const packed = await lockAccount(transaction, account)
    const old = await transaction.query<ChargeRow>(
      'select * from packable_charges($1, $2, $3) where account_seq <= coalesce($4, account_seq)',
      [account, before, PACK_CHARGES, until],
    )
    const indexes = old.rows.map((row) => Number(row.leaf_index))
    const hashes = await sealedLeaves(transaction, shards, indexes)
    const sealed = hashes.indexOf(undefined)
    const rows = sealed < 0 ? old.rows : old.rows.slice(0, sealed)
    if (rows.length < PACK_CHARGES_MIN) return 0
    invariant(
      BigInt(rows[0]?.account_seq ?? 0) === packed + 1n,
      'rows and packs of an account have a gap',
    )
    const row = await insertPack(transaction, account, rows)
    const fault = packFault(row, packCharges(row), hashes)
    if (fault !== undefined) throw new PackError(account, fault)
    const moved = await transaction.query<{ gone: string }>(
      'select move_into_pack($1, $2, $3) as gone',
      [account, row.first_seq, row.last_seq],
    )
    if (Number(moved.rows[0]?.gone) !== rows.length)
      throw new PackError(account, `${moved.rows[0]?.gone} rows went in place of ${rows.length}`)
    return rows.length
  })
}

/** The number up to which the account is packed. Nobody else packs it until the transaction ends. */
async function lockAccount(transaction: Queryable, account: string): Promise<bigint> {
  await transaction.query(
    'insert into packed_accounts (account) values ($1) on conflict do nothing',
    [account],
  )
  const { rows } = await transaction.query<{ charges: string }>(
    'select charges from packed_accounts where account = $1 for update',
    [account],
  )
  return BigInt(present(rows[0], 'an account has no row of its packs').charges)
}

/** The row as the server has it now, with what its charges say of themselves. */
async function insertPack(
  transaction: Queryable,
  account: string,
  rows: readonly ChargeRow[],
): Promise<PackRow> {
  const body = writePack(
    rows.map(({ leaf_index: leaf, bytes }) => ({ leafIndex: Number(leaf), bytes })),
  )
  const firstSeq = present(rows[0], 'a pack of nothing').account_seq
  const charges = packCharges({ account, first_seq: firstSeq, body })
  const fault = rowFault(rows, charges)
  if (fault !== undefined) throw new PackError(account, fault)
  const facts = factsOf(charges)
  const columns = { account, ...facts, sums: JSON.stringify(facts.sums), body }
  const inserted = await transaction.query<PackRow>(
    `insert into charge_packs (${Object.keys(columns).join()})
     values (${Object.keys(columns)
       .map((_, nth) => `$${nth + 1}`)
       .join()}) returning *`,
    Object.values(columns),
  )
  return present(inserted.rows[0], 'a pack was not inserted')
}

// Readers took these from the columns of a row, and take them from the bytes of a packed charge.
const COLUMNS: Readonly<Record<string, (charge: PackedCharge) => string | null>> = {
  account_seq: (charge) => String(charge.accountSeq),
  leaf_index: (charge) => String(charge.leafIndex),
  session: (charge) => charge.value('session') ?? null,
  seq: (charge) => charge.value('seq') ?? null,
  id: (charge) => charge.id,
  account: (charge) => charge.value('account') ?? null,
  token: (charge) => charge.value('token') ?? null,
  operation: (charge) => charge.operation,
  resource: (charge) => charge.resource,
  model: (charge) => charge.value('model') ?? null,
  status: (charge) => charge.value('status') ?? null,
  energy_nj: (charge) => String(charge.energyNj),
  carbon_pg: (charge) => String(charge.carbonPg),
  charge_pusd: (charge) => String(charge.chargePusd),
  free: (charge) => charge.value('free') ?? null,
  to_at: (charge) => charge.at.toJSON(),
}

/** The first row that is not the charge that was packed. */
function rowFault(
  rows: readonly ChargeRow[],
  charges: readonly PackedCharge[],
): string | undefined {
  for (const [nth, row] of rows.entries()) {
    const charge = charges[nth]
    if (charge === undefined || !sha256(charge.bytes).equals(row.hash))
      return `charge ${row.account_seq} has another hash`
    const wrong = Object.keys(COLUMNS).find((name) => COLUMNS[name]?.(charge) !== textOf(row[name]))
    if (wrong !== undefined) return `${wrong} of charge ${row.account_seq} differs from its bytes`
  }
  return undefined
}

const textOf = (value: unknown): string | null =>
  value === null ? null : value instanceof Date ? value.toISOString() : String(value)
