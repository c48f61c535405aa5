// GET /v1/usage?from&to&group_by&cursor&limit: what the account used, summed from its charges. As usage/last it
// waits until what was answered before this call is posted.
import type { Posted } from '#ledger/posted.ts'
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { OPERATIONS, type OperationName } from '#contract/operations.ts'
import { USAGE_DAYS_MAX } from '#contract/usage-range.ts'
import { rawNumber } from '#contract/raw-json.ts'
import { readListPage, type AskedPage } from '#http/list-page.ts'
import { readTime } from '#http/read-time.ts'
import type { Handler } from '#http/reply.ts'
import { sumUsage, type UsageRow } from '#ledger/usage.ts'
import { callerOf } from '#identity/principal.ts'
import type { State } from '#state/connect.ts'
import { inSnapshot } from '#state/snapshot.ts'

const SERVICE_OF = `case operation ${(Object.keys(OPERATIONS) as OperationName[])
  .map((name) => `when '${name}' then '${OPERATIONS[name].service}'`)
  .join(' ')} else 'other' end`
/** The groupings, and the SQL of each. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  ['service', SERVICE_OF],
  // Null for requests that no model served, as in usage/last.
  ['model', "nullif(model, '')"],
  ['token', 'token'],
  ['operation', 'operation'],
  ['day', "to_char(at at time zone 'UTC', 'YYYY-MM-DD')"],
])
const DAY_MS = 86_400_000
const CURSOR = /^(\d{1,15})\.(\d{1,15})\.([a-z]+)\.(\d{1,6})$/

/** The query of a request. A cursor holds the query with the number of rows that were given. */
type UsageQuery = {
  readonly from: Date
  readonly to: Date
  readonly groupBy: string
  readonly offset: number
}

export function createUsageGet(deps: {
  state: Pick<State, 'transaction'>
  posted: Posted
  now: () => number
}): Handler {
  return async ({ who, query: queryOf, signal }) => {
    const query = queryOf()
    const page = readListPage(query, CURSOR)
    const asked = readUsage(query, page, deps.now())
    const { from, to, groupBy, offset } = asked
    const group = GROUPS.get(groupBy)
    if (group === undefined)
      throw fault(
        'invalid_request',
        `Could not group: "${groupBy}" is not one of ${[...GROUPS.keys()].join(', ')}`,
        { param: 'group_by' },
      )
    if (from > to || to.getTime() - from.getTime() > USAGE_DAYS_MAX * DAY_MS)
      throw fault(
        'invalid_request',
        `Could not sum: the range must be 0 to ${USAGE_DAYS_MAX} days`,
        { param: 'from' },
      )
    await deps.posted(signal)
    const span = { account: callerOf(who).account, from, to }
    const found = await inSnapshot(deps.state, (snapshot) =>
      sumUsage(snapshot, span, group, { offset, limit: page.rowsMax }),
    )
    const next = page.next(found, () => cursorOf({ ...asked, offset: offset + page.limit }))
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          object: 'list',
          from: from.toISOString(),
          to: to.toISOString(),
          group_by: groupBy,
          data: page.of(found).map(toEntry),
          has_more: next !== null,
          next_cursor: next,
        }),
    }
  }
}

const toEntry = (row: UsageRow) => ({
  group: row.group,
  requests: Number(row.requests),
  energy_j: rawNumber(printJoules(nj(BigInt(row.energy)))),
  carbon_mg: rawNumber(printMilligrams(pg(BigInt(row.carbon)))),
  energy_nj: row.energy,
  measured_nj: row.measured,
  charge_pusd: row.charge,
})

function readUsage(query: URLSearchParams, { cursor }: AskedPage, nowMs: number): UsageQuery {
  if (cursor !== undefined) {
    const [, fromMs, toMs, groupBy = '', offset] = cursor
    const span = { from: new Date(Number(fromMs)), to: new Date(Number(toMs)) }
    return { ...span, groupBy, offset: Number(offset) }
  }
  const to = readTime(query.get('to'), 'to') ?? new Date(nowMs)
  const from = readTime(query.get('from'), 'from') ?? new Date(to.getTime() - DAY_MS)
  return { from, to, groupBy: query.get('group_by') ?? 'service', offset: 0 }
}

const cursorOf = ({ from, to, groupBy, offset }: UsageQuery): string =>
  [from.getTime(), to.getTime(), groupBy, offset].join('.')
