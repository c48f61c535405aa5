// The ledger as CSV (RFC 4180): members of the JSON entries, in their order.
import type { LedgerEntry } from '#contract/payments.ts'

export const LEDGER_COLUMNS = [
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

/** An entry as far as CSV has it. Evidence packs pin these columns, so they stay as they are. */
export type LedgerLine = Pick<LedgerEntry, (typeof LEDGER_COLUMNS)[number]>

export const ledgerCsv = (entries: readonly LedgerLine[]): string =>
  [csvLine(LEDGER_COLUMNS), ...entries.map((entry) => csvLine(ledgerCells(entry)))].join('')

/** The values of an entry, in the order of the columns. */
export const ledgerCells = (entry: LedgerLine): (string | null)[] =>
  LEDGER_COLUMNS.map((column) => entry[column])

export const csvLine = (values: readonly (string | null)[]): string =>
  `${values.map(cell).join(',')}\r\n`

/** Text that a spreadsheet would take for a formula begins with an apostrophe; negative numbers are numbers. */
function cell(value: string | null): string {
  const text = value ?? ''
  const plain = /^[=+@\t\r]|^-(?!\d+$)/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
