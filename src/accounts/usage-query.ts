// The query of GET /v1/usage. A cursor is the query itself with the number of rows that were given, so that the
// pages of one walk are of the same charges.
import { fault } from '#contract/errors.ts'
import { OPERATIONS, serviceOf } from '#contract/operations.ts'
import { USAGE_DAYS_MAX, USAGE_STEP_DAYS_MAX } from '#contract/accounts/usage-range.ts'
import { readTime } from '#http/read-time.ts'
import { USAGE_STEPS, type UsageFilter, type UsageStep } from '#ledger/usage.ts'

const DAY_MS = 86_400_000
const OFFSET = /^\d{1,7}$/
const NAMES = Object.keys(OPERATIONS)
const SERVICE_OF = `case operation ${NAMES.map((name) => `when '${name}' then '${serviceOf(name)}'`).join(' ')} else 'other' end`

/** The groupings, and the SQL of each. */
const GROUPS: ReadonlyMap<string, string> = new Map([
  ['service', SERVICE_OF],
  // Null for requests that no model served, as in usage/last.
  ['model', "nullif(model, '')"],
  // Null for charges without a token: cells and stored bytes.
  ['token', "nullif(token, '')"],
  ['operation', 'operation'],
  // Null for charges of no resource.
  ['resource', "nullif(resource, '')"],
  ['day', "to_char(at at time zone 'UTC', 'YYYY-MM-DD')"],
])

export type UsageQuery = {
  readonly from: Date
  readonly to: Date
  readonly groupBy: string
  /** SQL of the grouping. */
  readonly group: string
  readonly step: UsageStep | undefined
  readonly filter: UsageFilter
  readonly offset: number
  /** The cursor of the page that begins with a row. */
  cursorAt(offset: number): string
}

/** Throws invalid_request. */
export function readUsageQuery(sent: URLSearchParams, nowMs: number): UsageQuery {
  const cursor = sent.get('cursor')
  const query = cursor === null ? sent : openCursor(cursor)
  const to = readTime(query.get('to'), 'to') ?? new Date(nowMs)
  const from = readTime(query.get('from'), 'from') ?? new Date(to.getTime() - DAY_MS)
  const groupBy = query.get('group_by') ?? 'service'
  const group = GROUPS.get(groupBy)
  if (group === undefined)
    throw wrong('group_by', `"${groupBy}" is not one of ${[...GROUPS.keys()].join(', ')}`)
  const step = readStep(query.get('step'))
  const daysMax = step === undefined ? USAGE_DAYS_MAX : USAGE_STEP_DAYS_MAX[step]
  if (from > to) throw wrong('to', 'it is before "from"')
  if (to.getTime() - from.getTime() > daysMax * DAY_MS)
    throw wrong('from', `the range must be at most ${daysMax} days`)
  return {
    from,
    to,
    groupBy,
    group,
    step,
    filter: filterOf(query),
    offset: cursor === null ? 0 : Number(query.get('offset')),
    cursorAt: (offset) => cursorOf(query, { from, to, offset }),
  }
}

function readStep(text: string | null): UsageStep | undefined {
  if (text === null) return undefined
  const step = USAGE_STEPS.find((known) => known === text)
  if (step === undefined) throw wrong('step', `"${text}" is not one of ${USAGE_STEPS.join(', ')}`)
  return step
}

function filterOf(query: URLSearchParams): UsageFilter {
  const service = query.get('service')
  const operation = query.get('operation')
  const model = query.get('model')
  const token = query.get('token')
  const resource = query.get('resource')
  const operations = NAMES.filter(
    (name) =>
      (service === null || serviceOf(name) === service) &&
      (operation === null || name === operation),
  )
  if (operations.length === 0)
    throw wrong(operation === null ? 'service' : 'operation', 'there is none of this name')
  return {
    ...((service !== null || operation !== null) && { operations }),
    ...(model !== null && { model }),
    ...(token !== null && { token }),
    ...(resource !== null && { resource }),
  }
}

function cursorOf(
  query: URLSearchParams,
  { from, to, offset }: { readonly from: Date; readonly to: Date; readonly offset: number },
): string {
  const next = new URLSearchParams(query)
  next.delete('limit')
  next.set('from', from.toISOString())
  next.set('to', to.toISOString())
  next.set('offset', String(offset))
  return Buffer.from(next.toString()).toString('base64url')
}

function openCursor(cursor: string): URLSearchParams {
  const text = Buffer.from(cursor, 'base64url').toString()
  const query = new URLSearchParams(text)
  const isOurs = query.toString() === text && query.has('from') && query.has('to')
  if (!isOurs || !OFFSET.test(query.get('offset') ?? ''))
    throw wrong('cursor', 'give it as next_cursor of an earlier page had it')
  return query
}

const wrong = (param: string, why: string) =>
  fault('invalid_request', `Could not sum by ${param}: ${why}`, { param })
