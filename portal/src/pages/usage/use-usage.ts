// The usage of a range: by step for the chart, by group for the table, and by group of the range before.
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ReplyOf } from '#console/client/operations.ts'
import { readPages, rowsOf, useRest } from '#console/client/queries.ts'
import type { Range } from '#console/parts/charts/range.ts'
import { before } from './range.ts'

export const GROUPS = ['service', 'model', 'token', 'operation', 'resource'] as const
export type GroupBy = (typeof GROUPS)[number]
export type UsageRow = ReplyOf<'GET /v1/usage'>['data'][number]

const LIMIT = '1000'
/** The sums are at most so old. */
const SHOWN_MS = 60_000

const times = ({ fromMs, toMs }: Range) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
})

const groupsOf = (range: Range, groupBy: GroupBy) =>
  readPages('GET /v1/usage', { query: { ...times(range), group_by: groupBy, limit: LIMIT } })

export function useUsage(range: Range, groupBy: GroupBy, nowMs: number) {
  // A range that is over changes no more, and neither does the one before.
  const clock = {
    refetchInterval: range.toMs >= nowMs ? SHOWN_MS : false,
  } as const
  const steps = useInfiniteQuery({
    ...readPages('GET /v1/usage', {
      query: { ...times(range), group_by: 'service', step: range.step, limit: LIMIT },
    }),
    ...clock,
  })
  const groups = useInfiniteQuery({ ...groupsOf(range, groupBy), ...clock })
  const past = useInfiniteQuery(groupsOf(before(range, nowMs), groupBy))
  useRest(steps)
  useRest(groups)
  useRest(past)
  return {
    steps: rowsOf(steps.data),
    groups,
    // A part of the groups would compare with too little.
    past: past.data === undefined || past.hasNextPage ? undefined : rowsOf(past.data),
  }
}

export const energyOf = (rows: readonly Pick<UsageRow, 'energy_nj'>[]): bigint =>
  rows.reduce((sum, { energy_nj }) => sum + BigInt(energy_nj), 0n)
