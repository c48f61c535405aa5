// The counts of requests in the form in which prom-client hands figures from one process to another, so that
// it prints them and adds up those of several gateways. A request never waits for it.
import {
  DURATIONS_S,
  type ModelCounts,
  type OperationCounts,
  type RequestCounts,
} from '#http/request-counts.ts'

type Value = {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}
type CountedFigure = {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'histogram'
  readonly values: readonly Value[]
  readonly aggregator: 'sum'
}

/** Requests, what they cost and their tokens by operation and model; durations by operation. */
export function requestFigures(
  counts: Pick<RequestCounts, 'operations' | 'models'>,
): readonly CountedFigure[] {
  const models = counts.models()
  return [
    counter('ergon_requests_total', 'Requests that were answered', models.flatMap(statusValues)),
    counter(
      'ergon_energy_joules_total',
      'Energy that requests were charged; of nobody is what was refused before somebody was admitted',
      models.flatMap((one) => valueOf(one, one.energyNj / 1e9)),
    ),
    counter(
      'ergon_carbon_grams_total',
      'Carbon dioxide of that energy',
      models.flatMap((one) => valueOf(one, one.carbonPg / 1e12)),
    ),
    {
      name: DURATION,
      help: 'From the head of a request to the end of its answer, by operation',
      type: 'histogram',
      values: counts.operations().flatMap(durationValues),
      aggregator: 'sum',
    },
    counter(
      'ergon_tokens_total',
      'Tokens of models that were charged, by kind',
      models.flatMap((one) => [
        ...valueOf(one, one.promptTokens, { kind: 'prompt' }),
        ...valueOf(one, one.completionTokens, { kind: 'completion' }),
      ]),
    ),
  ]
}

const DURATION = 'ergon_request_duration_seconds'

const counter = (name: string, help: string, values: readonly Value[]): CountedFigure => ({
  name,
  help,
  type: 'counter',
  values,
  aggregator: 'sum',
})

const statusValues = (one: ModelCounts): Value[] =>
  one.statuses.flatMap((value, place) => valueOf(one, value, { status: `${place + 1}xx` }))

/** One value with its labels; nothing for 0. Without a model the label is left out, which is the same as empty. */
const valueOf = (
  { operation, model }: ModelCounts,
  value: number,
  labels: Value['labels'] = {},
): Value[] =>
  value === 0
    ? []
    : [{ labels: { operation, ...(model === undefined ? {} : { model }), ...labels }, value }]

/** Each class of a histogram includes all lower classes. */
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
