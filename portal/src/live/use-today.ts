// The figures of today: from the live stream, and from the usage of the API while the stream tells nothing.
import { useQuery } from '@tanstack/react-query'
import { read } from '#console/client/queries.ts'
import type { ReplyOf } from '#console/client/operations.ts'
import { figureOfSums } from '#console/figures/known.ts'
import { useNow } from '#console/parts/time/zone.ts'
import { useIsLate, useLive } from './use-live.ts'
import type { Today } from './state.ts'

const NO_STREAM_MS = 15_000

export function useToday(): Today | undefined {
  const live = useLive(({ today }) => today)
  const day = useNow('day').toISOString().slice(0, 10)
  const usage = useQuery({
    ...read('GET /v1/usage', { query: { from: `${day}T00:00:00Z`, group_by: 'service' } }),
    enabled: useIsLate() && live === undefined,
    refetchInterval: NO_STREAM_MS,
  })
  if (live !== undefined) return live
  return usage.data === undefined ? undefined : sumOf(usage.data, day)
}

function sumOf({ data }: ReplyOf<'GET /v1/usage'>, day: string): Today {
  const sum = (of: (row: (typeof data)[number]) => string) =>
    data.reduce((total, row) => total + BigInt(of(row)), 0n)
  return {
    day,
    requests: data.reduce((total, { requests }) => total + requests, 0),
    figure: figureOfSums(data),
    pg: sum(({ carbon_pg }) => carbon_pg),
    pusd: sum(({ charge_pusd }) => charge_pusd),
  }
}
