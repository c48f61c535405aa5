// The row of the ledger that a receipt is of must have the figures of the receipt. A sound receipt of other figures proves
// nothing of what the balance paid.
import type { Charge } from '#contract/ledger/charge.ts'

/** The fields of a row of `GET /v1/ledger` that a receipt is compared with. */
export type RowFigures = {
  readonly id: string
  readonly leaf_hash: string | null
  readonly energy_nj: string | null
  readonly amount_pusd: string
}

/** The account of requests that no account pays for. Their charges are public, and in no ledger of a caller. */
const NOBODY = 'nobody'

/**
 * Why the rows of the ledger that have the id of a receipt speak against the receipt, in words; undefined where none do. A
 * charge that somebody paid for has one row. Other charges may have none, and then nothing is compared.
 */
export function rowsFault(
  id: string,
  rows: readonly RowFigures[],
  { charge, leafHash }: { readonly charge: Charge; readonly leafHash: string },
): string | undefined {
  const [row, ...others] = rows
  if (row === undefined)
    return charge.account !== NOBODY && BigInt(charge.charge_pusd) > 0n
      ? `The ledger has no row of ${id}, which has a price`
      : undefined
  return others.length > 0
    ? `The ledger has ${rows.length} charges of ${id}`
    : otherRow(row, charge, leafHash)
}

/** Why the row of the ledger is not that of the charge, in words; undefined where all figures are equal. */
function otherRow(row: RowFigures, charge: Charge, leafHash: string): string | undefined {
  const compared = [
    ['the charge', row.id, charge.id],
    ['the leaf', row.leaf_hash, leafHash],
    ['the nanojoules', row.energy_nj, charge.energy_nj],
    ['the pico-dollars', (-BigInt(row.amount_pusd)).toString(), charge.charge_pusd],
  ] as const
  for (const [what, ledger, receipt] of compared)
    if (ledger !== receipt) {
      const [its, own] =
        what === 'the leaf' ? [brief(ledger ?? 'none'), brief(receipt)] : [ledger, receipt]
      return `The ledger has ${what} ${its}, and this receipt ${what} ${own}`
    }
  return undefined
}

const brief = (hash: string): string => hash.slice(0, 8)
