// A posting of the account's money as the API shows it.
import type { Charge } from '#contract/ledger/charge.ts'
import { bandOfParts } from '#contract/ledger/known.ts'
import { serviceOf } from '#contract/operations.ts'
import type { LedgerEntry } from '#contract/payments/payments.ts'
import { leafOf } from '#tlog/leaf.ts'
import type { LedgerRow } from './ledger-entry.ts'

export const ledgerEntryOf = (row: LedgerRow): LedgerEntry => ({
  id: row.id,
  at: row.at.toISOString(),
  kind: row.kind,
  amount_pusd: row.amount,
  request_id: row.rank === 0 ? row.id.replace(/^rcpt_/, 'req_') : null,
  service: row.operation === null ? null : serviceOf(row.operation),
  operation: row.operation,
  model: row.model,
  energy_nj: row.energy,
  ...ofCharge(row),
  reference: row.reference,
})

const OF_TRANSFER = { resource: null, token: null, method: null, band_pct: null, leaf_hash: null }

/** The facts of a charge that are not in its row. */
function ofCharge({
  charge: bytes,
  number,
}: LedgerRow): Record<keyof typeof OF_TRANSFER, string | null> {
  if (bytes === null) return OF_TRANSFER
  const { resource = null, token = null, parts } = JSON.parse(bytes.toString('utf8')) as Charge
  const { method, bandPct } = bandOfParts(parts)
  const leaf = leafOf({ accountSeq: BigInt(number), bytes })
  return { resource, token, method, band_pct: String(bandPct), leaf_hash: leaf.toString('hex') }
}
