// GET /v1/<products>/{id or name}/intervals?from&to: when a resource was awake, what woke it and why it slept.
import { fault } from '#contract/errors.ts'
import { intervalOf, readIntervals } from '#resources/intervals.ts'
import type { ShownResource, ShownResources } from '#resources/shown-resources.ts'
import type { Queryable } from '#state/connect.ts'
import { readListPage } from './list-page.ts'
import { readTime } from './read-time.ts'
import { known, type Handler } from './reply.ts'
import { askedResource } from './resource-operations.ts'

const DAY_MS = 86_400_000
const CURSOR = /^\d{1,18}$/

export const createIntervalList =
  <Row extends ShownResource, Settings>(
    shown: ShownResources<Row, Settings>,
    { state, now }: { readonly state: Queryable; readonly now: () => number },
  ): Handler =>
  async (call) => {
    const query = call.query()
    const page = readListPage(query, CURSOR)
    const to = readTime(query.get('to'), 'to') ?? new Date(now())
    const from = readTime(query.get('from'), 'from') ?? new Date(to.getTime() - DAY_MS)
    if (from > to)
      throw fault(
        'invalid_request',
        'Could not list the intervals: the range ends before it begins',
        { param: 'from' },
      )
    const { id } = await askedResource(shown, state, call)
    const span = { from, to, before: page.cursor?.[0], limit: page.rowsMax }
    const rows = await readIntervals(state, id, span)
    return known(page.list(rows, intervalOf, (last) => last.id))
  }
