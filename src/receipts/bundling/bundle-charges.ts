// Bundles old charges of an account: one transaction writes a bundle, reads it back, compares it with the log and with the
// rows, and takes the rows away. Nothing of it is seen before its end, so a kill at any moment changes nothing.
import { Failure, invariant, present } from '#base/errors.ts'
import { writeBundle } from '#ledger/bundles/bundle.ts'
import type { BundledCharge } from '#ledger/bundles/bundled-charge.ts'
import { createSqlReceiptStore } from '#receipts/sql-store.ts'
import { sha256 } from '#tlog/leaf.ts'
import type { Queryable, SqlRow, State } from '#state/connect.ts'
import { factsOf, bundleCharges, bundleFault, type BundleRow } from './prove-bundle.ts'
import { sealedLeaves } from './sealed-leaves.ts'

/** Charges of a bundle, at most: one is read in 3 ms, and a page needs one or two. */
export const BUNDLE_CHARGES = 2000
/** Fewer wait: what a bundle says once would be most of it. */
export const BUNDLE_CHARGES_MIN = 128

/** The error of a bundle that differs from its charges; nothing was changed. */
export const notBundled = (account: string, why: string) =>
  new Failure(`Could not bundle charges of ${account}: ${why}`)

type ChargeRow = SqlRow & {
  account_seq: string
  leaf_index: string
  hash: Buffer
  bytes: Buffer
}

/**
 * Bundles the oldest charges of an account that are rows; the number of them. They ended before a time, and their numbers
 * are at most `until`.
 */
export async function bundleOldest(
  state: State,
  account: string,
  { before, until }: { readonly before: Date; readonly until: string | null },
): Promise<number> {
  const shards = await createSqlReceiptStore(state).shards()
  return await state.transaction(async (transaction) => {
    const bundled = await lockAccount(transaction, account)
    const old = await transaction.query<ChargeRow>(
      'select * from charges_to_bundle($1, $2, $3) where account_seq <= coalesce($4, account_seq)',
      [account, before, BUNDLE_CHARGES, until],
    )
    const indexes = old.rows.map((row) => Number(row.leaf_index))
    const hashes = await sealedLeaves(transaction, shards, indexes)
    const sealed = hashes.indexOf(undefined)
    const rows = sealed < 0 ? old.rows : old.rows.slice(0, sealed)
    if (rows.length < BUNDLE_CHARGES_MIN) return 0
    invariant(
      BigInt(rows[0]?.account_seq ?? 0) === bundled + 1n,
      'rows and bundles of an account have a gap',
    )
    const row = await insertBundle(transaction, account, rows)
    const fault = bundleFault(row, bundleCharges(row), hashes)
    if (fault !== undefined) throw notBundled(account, fault)
    const moved = await transaction.query<{ gone: string }>(
      'select move_into_bundle($1, $2, $3) as gone',
      [account, row.first_seq, row.last_seq],
    )
    if (Number(moved.rows[0]?.gone) !== rows.length)
      throw notBundled(account, `${moved.rows[0]?.gone} rows went in place of ${rows.length}`)
    return rows.length
  })
}

/** The number up to which the account is bundled. Nobody else bundles it until the transaction ends. */
async function lockAccount(transaction: Queryable, account: string): Promise<bigint> {
  await transaction.query(
    'insert into bundled_accounts (account) values ($1) on conflict do nothing',
    [account],
  )
  const { rows } = await transaction.query<{ charges: string }>(
    'select charges from bundled_accounts where account = $1 for update',
    [account],
  )
  return BigInt(present(rows[0], 'an account has no row of its bundles').charges)
}

/** The row as the server has it now, with the facts of its charges. */
async function insertBundle(
  transaction: Queryable,
  account: string,
  rows: readonly ChargeRow[],
): Promise<BundleRow> {
  const body = writeBundle(
    rows.map(({ leaf_index: leaf, bytes }) => ({ leafIndex: Number(leaf), bytes })),
  )
  const firstSeq = present(rows[0], 'a bundle of nothing').account_seq
  const charges = bundleCharges({ account, first_seq: firstSeq, body })
  const fault = rowFault(rows, charges)
  if (fault !== undefined) throw notBundled(account, fault)
  const facts = factsOf(charges)
  const columns = { account, ...facts, sums: JSON.stringify(facts.sums), body }
  const inserted = await transaction.query<BundleRow>(
    `insert into charge_bundles (${Object.keys(columns).join()})
     values (${Object.keys(columns)
       .map((_, nth) => `$${nth + 1}`)
       .join()}) returning *`,
    Object.values(columns),
  )
  return present(inserted.rows[0], 'a bundle was not inserted')
}

// Readers took these from the columns of a row, and take them from the bytes of a bundled charge.
const COLUMNS: Readonly<Record<string, (charge: BundledCharge) => string | null>> = {
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

/** The first row that is not the charge that was bundled. */
function rowFault(
  rows: readonly ChargeRow[],
  charges: readonly BundledCharge[],
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
