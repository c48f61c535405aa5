// The ledger as CSV (RFC 4180): fields of the JSON entries.
import type { LedgerEntry } from '#contract/payments/payments.ts'

/** The columns of evidence packs, which never change: the verifier knows them by their places. */
export const PACK_COLUMNS = [
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

/** An entry as far as evidence packs have it: they have the receipt of each charge, which tells the rest. */
export type PackLine = Pick<LedgerEntry, (typeof PACK_COLUMNS)[number]>

/** All fields of an entry. Further ones come last: programs read columns by their places. */
const COLUMNS: readonly (keyof LedgerEntry)[] = [
  ...PACK_COLUMNS,
  'resource',
  'method',
  'band_pct',
  'leaf_hash',
  'token',
]

export const ledgerCsv = (entries: readonly LedgerEntry[]): string =>
  [COLUMNS, ...entries.map((entry) => COLUMNS.map((column) => entry[column]))].map(csvLine).join('')

/** The values of an entry, in the order of the columns of packs. */
export const packCells = (entry: PackLine): (string | null)[] =>
  PACK_COLUMNS.map((column) => entry[column])

export const csvLine = (values: readonly (string | null)[]): string =>
  `${values.map(cell).join(',')}\r\n`

/** Text that a spreadsheet would take for a formula begins with an apostrophe; negative numbers are numbers. */
function cell(value: string | null): string {
  const text = value ?? ''
  const plain = /^[=+@\t\r]|^-(?!\d+$)/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
