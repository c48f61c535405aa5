// The usage of a range: by step for the chart, by group for the table, and by group of the range before.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { ReplyOf } from '#console/client/operations.ts'
import { read, readPages, rowsOf } from '#console/client/queries.ts'
import type { Range } from '#console/parts/range.ts'
import { before } from './range.ts'

export const GROUPS = ['service', 'model', 'token', 'operation', 'resource'] as const
export type GroupBy = (typeof GROUPS)[number]
export type UsageRow = ReplyOf<'GET /v1/usage'>['data'][number]

const LIMIT = '1000'

const times = ({ fromMs, toMs }: Range) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
})

export function useUsage(range: Range, groupBy: GroupBy) {
  const steps = useInfiniteQuery(
    readPages('GET /v1/usage', {
      query: { ...times(range), group_by: 'service', step: range.step, limit: LIMIT },
    }),
  )
  const { hasNextPage, fetchNextPage, isFetching } = steps
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  const groups = useQuery(
    read('GET /v1/usage', { query: { ...times(range), group_by: groupBy, limit: LIMIT } }),
  )
  const past = useQuery(
    read('GET /v1/usage', { query: { ...times(before(range)), group_by: groupBy, limit: LIMIT } }),
  )
  return { steps: rowsOf(steps.data), groups, past: past.data?.data }
}

/** Names of tokens by their ids. */
export function useTokenNames(): ReadonlyMap<string, string> {
  const tokens = useQuery(read('GET /v1/tokens', { query: { limit: LIMIT } }))
  return new Map(tokens.data?.data.map(({ id, name }) => [id, name]))
}

export const energyOf = (rows: readonly UsageRow[]): bigint =>
  rows.reduce((sum, { energy_nj }) => sum + BigInt(energy_nj), 0n)
