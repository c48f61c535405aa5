// The page of a list that a request asks for: `limit` and `cursor`, the same in every list.
import { fault } from '#contract/errors.ts'
import { PAGE_LIMIT, PAGE_LIMIT_MAX } from '#contract/values/list-page.ts'

const LIMIT = /^[1-9]\d{0,3}$/

export type ListReply<Entry> = {
  readonly object: 'list'
  readonly data: readonly Entry[]
  readonly has_more: boolean
  readonly next_cursor: string | null
}

export class AskedPage {
  readonly limit: number
  /** The parts of the cursor: all of it, then the groups of its form; undefined on the first page. */
  readonly cursor: RegExpExecArray | undefined
  /** For the query: one more than the limit tells whether there are more. */
  readonly rowsMax: number

  constructor(limit: number, cursor: RegExpExecArray | undefined) {
    this.limit = limit
    this.cursor = cursor
    this.rowsMax = limit + 1
  }

  /** The rows of the page. */
  of<Row>(rows: readonly Row[]): readonly Row[] {
    return rows.slice(0, this.limit)
  }

  /** The cursor of the next page, from the last row of this one; null where there is none. */
  next<Row>(rows: readonly Row[], cursorOf: (last: Row) => string): string | null {
    const last = rows[this.limit - 1]
    return rows.length > this.limit && last !== undefined ? cursorOf(last) : null
  }

  /** The whole answer. */
  list<Row, Entry>(
    rows: readonly Row[],
    entryOf: (row: Row) => Entry,
    cursorOf: (last: Row) => string,
  ): ListReply<Entry> {
    const next = this.next(rows, cursorOf)
    return {
      object: 'list',
      data: this.of(rows).map(entryOf),
      has_more: next !== null,
      next_cursor: next,
    }
  }
}

/** `form` is that of the list's cursors; `name` where a list has another name for the parameter. Throws invalid_request. */
export function readListPage(query: URLSearchParams, form: RegExp, name = 'cursor'): AskedPage {
  const text = query.get('limit') ?? String(PAGE_LIMIT)
  const limit = LIMIT.test(text) ? Number(text) : Infinity
  if (limit > PAGE_LIMIT_MAX) throw wrong('limit', `it is from 1 to ${PAGE_LIMIT_MAX}`)
  const given = query.get(name)
  if (given === null) return new AskedPage(limit, undefined)
  const cursor = form.exec(given)
  if (cursor === null) throw wrong(name, 'give it as next_cursor of an earlier page had it')
  return new AskedPage(limit, cursor)
}

/** Cursors that are ids, and the least text after every id of the kind. */
export const idCursor = (prefix: string) => ({
  form: new RegExp(`^${prefix}_[0-9a-z]{26}$`),
  end: `${prefix}_~`,
})

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not list by ${param}: ${why}`, { param })
