// Records of an account for its export, read in pages, so that any number of them takes the memory of one page.
import type { Queryable, SqlRow } from '#state/connect.ts'

/** The records of one kind that an account has. */
export type Records = (account: string, signal: AbortSignal) => AsyncIterable<object>

const PAGE = 500

/**
 * Rows of a statement in the order of their column `place`, which is text and left out. Its parameters: the account, the
 * place of the last row ('' at first), the number of rows of a page.
 */
export const recordsOf = (state: Queryable, sql: string): Records =>
  async function* records(account, signal) {
    let last = ''
    for (;;) {
      signal.throwIfAborted()
      const { rows } = await state.query<SqlRow & { place: string }>(sql, [account, last, PAGE])
      for (const { place, ...record } of rows) {
        last = place
        yield record
      }
      if (rows.length < PAGE) return
    }
  }
