// GET /v1/usage?from&to&group_by: what the account used, summed from its charges.
import { nj, pg, printJoules, printMilligrams } from '#base/units.ts'
import { fault } from '#contract/errors.ts'
import { OPERATIONS, type OperationName } from '#contract/operations.ts'
import { rawNumber } from '#contract/raw-json.ts'
import type { Handler } from '#http/reply.ts'
import type { Queryable } from '#state/connect.ts'

const SERVICE_OF = `case operation ${(Object.keys(OPERATIONS) as OperationName[])
  .map((name) => `when '${name}' then '${OPERATIONS[name].service}'`)
  .join(' ')} else 'other' end`
/** What may be grouped by, and the SQL of each group. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  ['service', SERVICE_OF],
  ['model', "coalesce(model, '')"],
  ['token', "coalesce(token, '')"],
  ['operation', 'operation'],
  ['day', "to_char(to_at at time zone 'UTC', 'YYYY-MM-DD')"],
])
const RANGE_DAYS_MAX = 400
const ROWS_MAX = 1000

type Row = {
  group: string
  requests: string
  energy: string
  carbon: string
  charge: string
}

export function createUsageGet(deps: { state: Queryable; now: () => number }): Handler {
  return async ({ who, query: queryOf }) => {
    const query = queryOf()
    const to = readTime(query.get('to'), 'to') ?? new Date(deps.now())
    const from = readTime(query.get('from'), 'from') ?? new Date(to.getTime() - 86_400_000)
    const groupBy = query.get('group_by') ?? 'service'
    const group = GROUPS.get(groupBy)
    if (group === undefined)
      throw fault(
        'invalid_request',
        `Could not group: "${groupBy}" is not one of ${[...GROUPS.keys()].join(', ')}`,
        { param: 'group_by' },
      )
    if (from > to || to.getTime() - from.getTime() > RANGE_DAYS_MAX * 86_400_000)
      throw fault(
        'invalid_request',
        `Could not sum: the range must be 0 to ${RANGE_DAYS_MAX} days`,
        { param: 'from' },
      )
    const { rows } = await deps.state.query<Row>(
      `select ${group} as group, count(*) as requests, sum(energy_nj) as energy, sum(carbon_pg) as carbon,
        sum(charge_pusd) as charge
       from charges where account = $1 and to_at >= $2 and to_at < $3 group by 1 order by 3 desc limit ${ROWS_MAX}`,
      [who?.account, from, to],
    )
    return {
      kind: 'known',
      status: 200,
      body: () =>
        JSON.stringify({
          object: 'list',
          from: from.toISOString(),
          to: to.toISOString(),
          group_by: groupBy,
          data: rows.map(toEntry),
          has_more: rows.length === ROWS_MAX,
          next_cursor: null,
        }),
    }
  }
}

const toEntry = (row: Row) => ({
  group: row.group,
  requests: Number(row.requests),
  energy_j: rawNumber(printJoules(nj(BigInt(row.energy)))),
  carbon_mg: rawNumber(printMilligrams(pg(BigInt(row.carbon)))),
  energy_nj: row.energy,
  charge_pusd: row.charge,
})

function readTime(text: string | null, name: string): Date | undefined {
  if (text === null) return undefined
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw fault('invalid_request', `Could not read the time: "${text.slice(0, 60)}"`, {
      param: name,
    })
  return time
}
