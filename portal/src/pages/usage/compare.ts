// Comparison of two ranges in words, and the rows as CSV.
import { share } from '#console/figures/amounts.ts'
import type { UsageRow } from './use-usage.ts'

/** 12 % more than the time before; from twice on as a factor. */
export function changeWords(now: bigint, past: bigint): string {
  if (past === 0n) return now === 0n ? 'as in the time before' : 'nothing in the time before'
  if (now === past) return 'as in the time before'
  if (now >= 2n * past) return `${Number((now * 10n) / past) / 10} times the time before`
  return now > past
    ? `${share(now - past, past)} more than the time before`
    : `${share(past - now, past)} less than the time before`
}

const COLUMNS = [
  'group',
  'requests',
  'energy_nj',
  'band_pct',
  'measured_nj',
  'carbon_pg',
  'charge_pusd',
  'kind',
  'name',
] as const

/** RFC 4180. Text that a spreadsheet would take for a formula begins with an apostrophe. */
export const csvOf = (rows: readonly UsageRow[]): string =>
  [COLUMNS.join(','), ...rows.map((row) => COLUMNS.map((column) => cell(row[column])).join(','))]
    .map((line) => `${line}\r\n`)
    .join('')

function cell(value: string | number | null | undefined): string {
  const text = String(value ?? '')
  const plain = /^[=+@\t\r-]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
