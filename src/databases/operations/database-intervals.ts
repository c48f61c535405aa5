// GET /v1/databases/{id or name}/intervals?from&to: when its server was awake, what woke it and why it slept.
import { fault } from '#contract/errors.ts'
import { findDatabase } from '#databases/operations/find-database.ts'
import { readListPage } from '#http/list-page.ts'
import { readTime } from '#http/read-time.ts'
import { known, type Handler } from '#http/reply.ts'
import { callerOf } from '#identity/principal.ts'
import { intervalOf, readIntervals } from '#resources/intervals.ts'
import type { State } from '#state/connect.ts'

const DAY_MS = 86_400_000
const CURSOR = /^\d{1,18}$/

export const createDatabaseIntervals =
  ({ state, now }: { readonly state: State; readonly now: () => number }): Handler =>
  async ({ who, parameters, query: queryOf }) => {
    const query = queryOf()
    const page = readListPage(query, CURSOR)
    const to = readTime(query.get('to'), 'to') ?? new Date(now())
    const from = readTime(query.get('from'), 'from') ?? new Date(to.getTime() - DAY_MS)
    if (from > to)
      throw fault(
        'invalid_request',
        'Could not list the intervals: the range ends before it begins',
        {
          param: 'from',
        },
      )
    const { id } = await findDatabase(state, callerOf(who).account, parameters['database'] ?? '')
    const span = { from, to, before: page.cursor?.[0], limit: page.rowsMax }
    const rows = await readIntervals(state, id, span)
    return known(page.list(rows, intervalOf, (last) => last.id))
  }
