// The row of the ledger that a receipt is of must have the figures of the receipt. A sound receipt of other figures proves
// nothing of what the balance paid.
import type { Charge } from '#contract/charge.ts'

/** The fields of a row of `GET /v1/ledger` that a receipt is compared with. */
export type RowFigures = {
  readonly id: string
  readonly leaf_hash: string | null
  readonly energy_nj: string | null
  readonly amount_pusd: string
}

/** Why the row of the ledger is not that of the charge, in words; undefined where all figures are equal. */
export function otherRow(row: RowFigures, charge: Charge, leafHash: string): string | undefined {
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
      return `the ledger has ${what} ${its}, and this receipt ${what} ${own}`
    }
  return undefined
}

const brief = (hash: string): string => hash.slice(0, 8)
