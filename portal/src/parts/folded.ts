// Reads of the account, which the console makes itself, stand in one line of a short list, so that they push nothing else
// out of it. The ledger has each of them.
import type { Row } from './ledger-row.ts'

export type Reads = { readonly id: string; readonly count: number; readonly nj: bigint }
export type FoldedRow = Row | Reads

const READ = /\.(get|list|logs|energy|failures|intervals|queries)$/
/** Services whose requests are never folded: somebody asked for each. */
const ASKED: ReadonlySet<string | null> = new Set(['inference', 'storage'])

const isRead = ({ kind, service, operation }: Row): boolean =>
  kind === 'charge' && !ASKED.has(service) && operation !== null && READ.test(operation)

export const isFolded = (row: FoldedRow): row is Reads => 'count' in row

/** Neighbouring reads become one row, with their number and their sum; one alone stays what it is. */
export function folded(rows: readonly Row[]): readonly FoldedRow[] {
  const all: FoldedRow[] = []
  let reads: Row[] = []
  const close = () => {
    const [first, second] = reads
    if (first !== undefined)
      all.push(
        second === undefined ? first : { id: first.id, count: reads.length, nj: sumOf(reads) },
      )
    reads = []
  }
  for (const row of rows)
    if (isRead(row)) reads.push(row)
    else {
      close()
      all.push(row)
    }
  close()
  return all
}

const sumOf = (rows: readonly Row[]): bigint => rows.reduce((sum, { nj }) => sum + (nj ?? 0n), 0n)
