// The ledger as CSV (RFC 4180): the members of the JSON entries, in their order.
import type { LedgerEntry } from '#contract/payments.ts'

const COLUMNS = [
  'id',
  'at',
  'kind',
  'amount_pusd',
  'request_id',
  'service',
  'operation',
  'model',
  'energy_nj',
  'reference',
] as const satisfies readonly (keyof LedgerEntry)[]

export function csvOf(entries: readonly LedgerEntry[]): string {
  const lines = entries.map((entry) => COLUMNS.map((column) => cell(entry[column])).join(','))
  return [COLUMNS.join(','), ...lines].map((line) => `${line}\r\n`).join('')
}

/** Text that a spreadsheet would take for a formula begins with an apostrophe; negative numbers are numbers. */
function cell(value: string | null): string {
  const text = value ?? ''
  const plain = /^[=+@\t\r]|^-(?!\d+$)/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
