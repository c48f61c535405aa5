// The price of looking, which the console itself causes, stands in one line at the end of a short list: the customer's own
// work comes before. The ledger has each of the charges.
import type { Row } from './ledger-row.ts'

export type Reads = {
  readonly id: string
  readonly count: number
  readonly nj: bigint
  /** Time of the oldest one: older reads are not counted. */
  readonly since: string
}
export type FoldedRow = Row | Reads

const READ = /\.(get|list|logs?|last|energy|failures|intervals|queries)$/
/** A dry run, of any service. */
const DRY_RUN = /\.ceiling$/
/** Lists of buckets and files, and settings of buckets. */
const STORAGE_READ = /^storage\.(buckets$|list-|head-bucket$|get-bucket-)/

/** True for a charge of looking. Reads of a file and answers of a model are work. */
export function isLook({ kind, service, operation }: Row): boolean {
  if (kind !== 'charge' || operation === null) return false
  if (DRY_RUN.test(operation)) return true
  if (service === 'storage') return STORAGE_READ.test(operation)
  return READ.test(operation)
}

export const isFolded = (row: FoldedRow): row is Reads => 'count' in row

/** Words for the number of reads; `isPart` where there may be more of them. */
export const readsWords = (count: number, isPart: boolean): string =>
  `${isPart ? 'At least ' : ''}${count === 1 ? '1 read' : `${count} reads`}`

/** At most `most` rows in their order; the last has the reads among them, with their number, their sum, and since when they count. */
export function folded(rows: readonly Row[], most: number): readonly FoldedRow[] {
  const own = rows.filter((row) => !isLook(row))
  const reads = rows.filter(isLook)
  const [newest, oldest] = [reads[0], reads.at(-1)]
  if (newest === undefined || oldest === undefined) return own.slice(0, most)
  const nj = reads.reduce((sum, row) => sum + (row.nj ?? 0n), 0n)
  return [...own.slice(0, most - 1), { id: newest.id, count: reads.length, nj, since: oldest.at }]
}
