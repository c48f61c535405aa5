// The usage of a range: by step for the chart, by group for the table, and by group of the range before.
import { useInfiniteQuery, type InfiniteData } from '@tanstack/react-query'
import type { ReplyOf } from '#console/client/operations.ts'
import { readPages, rowsOf, useRest } from '#console/client/queries.ts'
import type { Range, Step } from '#console/parts/charts/range.ts'
import { before, isMoved } from './range.ts'

export const GROUPS = ['service', 'model', 'token', 'operation', 'resource'] as const
export type GroupBy = (typeof GROUPS)[number]
type UsageReply = ReplyOf<'GET /v1/usage'>
export type UsageRow = UsageReply['data'][number]

const LIMIT = '1000'
/** The sums are at most so old. */
const SHOWN_MS = 60_000

const times = ({ fromMs, toMs }: Range) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
})

type Grouped = { readonly group_by: GroupBy; readonly step?: Step }

/** A range that moves with the time keeps the sums of the step before until its own are there. */
function readOf(range: Range, grouped: Grouped) {
  const sought = { ...times(range), ...grouped, limit: LIMIT }
  const options = readPages('GET /v1/usage', { query: sought })
  type Data = InfiniteData<UsageReply, string>
  type Before = { readonly queryKey: readonly unknown[] } | undefined
  return {
    ...options,
    placeholderData: (data: Data | undefined, previous: Before) => {
      const { query } = (previous?.queryKey[1] ?? {}) as { readonly query?: typeof sought }
      const isSame = query?.group_by === grouped.group_by && query.step === grouped.step
      const isKept =
        isSame && isMoved(range, { fromMs: Date.parse(query.from), toMs: Date.parse(query.to) })
      return isKept ? data : undefined
    },
  }
}

/** The three reads of a range. */
export function usageReads(range: Range, groupBy: GroupBy, nowMs: number) {
  // A range that is over changes no more, and neither does the one before.
  const clock = {
    refetchInterval: range.toMs >= nowMs ? SHOWN_MS : false,
  } as const
  return {
    steps: { ...readOf(range, { group_by: 'service', step: range.step }), ...clock },
    groups: { ...readOf(range, { group_by: groupBy }), ...clock },
    past: readOf(before(range, nowMs), { group_by: groupBy }),
  }
}

export function useUsage(range: Range, groupBy: GroupBy, nowMs: number) {
  const reads = usageReads(range, groupBy, nowMs)
  const steps = useInfiniteQuery(reads.steps)
  const groups = useInfiniteQuery(reads.groups)
  const past = useInfiniteQuery(reads.past)
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
