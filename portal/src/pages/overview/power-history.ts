// Power of the last 15 minutes by service: live seconds where the page has them, before that the mean of each minute from
// the usage of the API.
import { useQuery } from '@tanstack/react-query'
import { read } from '../../client/queries.ts'
import type { PowerPoint } from '../../live/state.ts'
import { useLive } from '../../live/use-live.ts'
import { MINUTE_MS, minutePoints, SPAN_MS } from './minute-points.ts'

/** `openedMs`: the moment to which the minutes are read, once. */
export function usePowerHistory(openedMs: number): readonly PowerPoint[] {
  const live = useLive((state) => state.history)
  const toMs = Math.floor(openedMs / MINUTE_MS) * MINUTE_MS
  const minutes = useQuery({
    ...read('GET /v1/usage', {
      query: {
        from: new Date(toMs - SPAN_MS).toISOString(),
        to: new Date(toMs).toISOString(),
        group_by: 'service',
        step: 'minute',
        limit: '1000',
      },
    }),
    staleTime: Infinity,
  })
  const before = minutes.data === undefined ? [] : minutePoints(minutes.data.data, toMs)
  const beginMs = live[0]?.atMs ?? Infinity
  return [...before.filter(({ atMs }) => atMs < beginMs), ...live]
}
