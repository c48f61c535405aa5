// The counts of requests in the form in which prom-client hands figures from one process to another, so that
// it prints them and adds up those of several gateways. A request never waits for it.
import { DURATIONS_S, type OperationCounts, type RequestCounts } from '#http/request-counts.ts'

type Value = {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}
type Figure = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
  readonly values: readonly Value[]
  readonly aggregator: 'sum'
}

/** Requests by operation and class of status, their durations by operation, and tokens by kind. */
export function requestFigures(counts: Pick<RequestCounts, 'operations' | 'tokens'>): Figure[] {
  const operations = counts.operations()
  const tokens = Object.entries(counts.tokens())
  return [
    {
      name: 'ergon_requests_total',
      help: 'Requests that were answered, by operation and class of status',
      type: 'counter',
      values: operations.flatMap(statusValues),
      aggregator: 'sum',
    },
    {
      name: DURATION,
      help: 'From the head of a request to the end of its answer, by operation',
      type: 'histogram',
      values: operations.flatMap(durationValues),
      aggregator: 'sum',
    },
    {
      name: 'ergon_tokens_total',
      help: 'Tokens of models that were charged, by kind',
      type: 'counter',
      values: tokens.map(([kind, value]) => ({ labels: { kind }, value })),
      aggregator: 'sum',
    },
  ]
}

const DURATION = 'ergon_request_duration_seconds'

const statusValues = ({ operation, statuses }: OperationCounts): Value[] =>
  statuses.flatMap((value, place) =>
    value === 0 ? [] : [{ labels: { operation, status: `${place + 1}xx` }, value }],
  )

/** Of a histogram each class has all below it. */
function durationValues({ operation, durations, totalS }: OperationCounts): Value[] {
  let value = 0
  const buckets = durations.map((count, place) => {
    value += count
    const labels = { operation, le: DURATIONS_S[place] ?? '+Inf' }
    return { metricName: `${DURATION}_bucket`, labels, value }
  })
  return [
    ...buckets,
    { metricName: `${DURATION}_sum`, labels: { operation }, value: totalS },
    { metricName: `${DURATION}_count`, labels: { operation }, value },
  ]
}
