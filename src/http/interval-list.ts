// GET /v1/<products>/{id or name}/intervals?from&to: when a resource was awake, what woke it and why it slept.
import { fault } from '#contract/errors.ts'
import { callerOf } from '#identity/principal.ts'
import { intervalOf, readIntervals } from '#resources/intervals.ts'
import type { Queryable } from '#state/connect.ts'
import { readListPage } from './list-page.ts'
import { readTime } from './read-time.ts'
import { known, type Handler } from './reply.ts'

const DAY_MS = 86_400_000
const CURSOR = /^\d{1,18}$/

/** `find` is by id or name, and throws where the account has no such resource; `parameter` has its place in the path. */
export const createIntervalList =
  (deps: {
    readonly state: Queryable
    readonly now: () => number
    readonly parameter: string
    readonly find: (account: string, wanted: string) => Promise<{ readonly id: string }>
  }): Handler =>
  async ({ who, parameters, query: queryOf }) => {
    const query = queryOf()
    const page = readListPage(query, CURSOR)
    const to = readTime(query.get('to'), 'to') ?? new Date(deps.now())
    const from = readTime(query.get('from'), 'from') ?? new Date(to.getTime() - DAY_MS)
    if (from > to)
      throw fault(
        'invalid_request',
        'Could not list the intervals: the range ends before it begins',
        { param: 'from' },
      )
    const { id } = await deps.find(callerOf(who).account, parameters[deps.parameter] ?? '')
    const span = { from, to, before: page.cursor?.[0], limit: page.rowsMax }
    const rows = await readIntervals(deps.state, id, span)
    return known(page.list(rows, intervalOf, (last) => last.id))
  }
