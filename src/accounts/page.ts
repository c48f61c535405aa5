// A page of a list by id, the newest first.
import { fault } from '#contract/errors.ts'

const LIMIT = 100
/** After every id. */
const LAST = '~'

export interface IdPage {
  /** Only rows with an id before this one. */
  readonly before: string
  readonly limit: number
  /** The list of a page, from one row more than its limit, where there is one. */
  listOf<Row extends { id: string }, Entry>(
    rows: readonly Row[],
    entryOf: (row: Row) => Entry,
  ): {
    object: 'list'
    data: Entry[]
    has_more: boolean
    next_cursor: string | null
  }
}

/** Reads `cursor` and `limit`; throws invalid_request. */
export function readPage(query: URLSearchParams, limitMax: number): IdPage {
  const text = query.get('limit') ?? String(LIMIT)
  const limit = /^[1-9]\d{0,3}$/.test(text) ? Number(text) : Infinity
  if (limit > limitMax)
    throw fault('invalid_request', `Could not list: limit is from 1 to ${limitMax}`, {
      param: 'limit',
    })
  return {
    before: query.get('cursor') ?? LAST,
    limit,
    listOf(rows, entryOf) {
      const given = rows.slice(0, limit)
      const hasMore = rows.length > limit
      return {
        object: 'list',
        data: given.map(entryOf),
        has_more: hasMore,
        next_cursor: hasMore ? (given.at(-1)?.id ?? null) : null,
      }
    },
  }
}
