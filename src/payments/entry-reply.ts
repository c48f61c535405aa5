// A posting of the account's money as the API shows it.
import { serviceOf } from '#contract/operations.ts'
import type { LedgerEntry } from '#contract/payments.ts'
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
  reference: row.reference,
})
