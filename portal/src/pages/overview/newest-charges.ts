// The newest charges for a short list: further pages are read while what was read is the price of looking, as after a walk
// through the console.
import type { ReplyOf } from '#console/client/operations.ts'
import { isLook } from '#console/parts/ledger/folded.ts'
import { rowOfEntry, type Row } from '#console/parts/ledger/ledger-row.ts'

type LedgerPage = Pick<ReplyOf<'GET /v1/ledger'>, 'data' | 'next_cursor'>
/** Answers with the page after a cursor; the first page without one. */
export type AskPage = (cursor: string | undefined) => Promise<LedgerPage>

/** An account that only looks is not read to its beginning. */
const PAGES_MAX = 6

/** Pages with at least `most` charges of work, or all pages up to the limit. */
export async function newestCharges(ask: AskPage, most: number): Promise<readonly Row[]> {
  const rows: Row[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const { data, next_cursor: next } = await ask(cursor)
    rows.push(...data.map(rowOfEntry))
    if (next === null || rows.filter((row) => !isLook(row)).length >= most) break
    cursor = next
  }
  return rows
}
