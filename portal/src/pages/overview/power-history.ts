// Power of the last 15 minutes by service: live seconds where the page has them, before that the mean of each minute from
// the usage of the API.
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '#console/client/queries.ts'
import type { PowerPoint } from '#console/live/state.ts'
import { useLive } from '#console/live/use-live.ts'
import { fromOf, minutePoints, SPAN_MS } from './minute-points.ts'

/** Usage is read once: up to the first live second where there is one, or to when the page was opened. */
export function usePowerHistory(openedMs: number): readonly PowerPoint[] {
  const live = useLive((state) => state.history)
  const [toMs] = useState(live[0]?.atMs ?? openedMs)
  const minutes = useQuery({
    ...read('GET /v1/usage', {
      query: {
        from: new Date(fromOf(toMs)).toISOString(),
        to: new Date(toMs).toISOString(),
        group_by: 'service',
        step: 'minute',
        limit: '1000',
      },
    }),
    staleTime: Infinity,
    enabled: openedMs - toMs < SPAN_MS,
  })
  const before = minutes.data === undefined ? [] : minutePoints(minutes.data.data, toMs)
  const points = [...before.filter(({ atMs }) => atMs < (live[0]?.atMs ?? Infinity)), ...live]
  const endMs = points.at(-1)?.atMs ?? toMs
  return points.filter(({ atMs }) => atMs >= endMs - SPAN_MS)
}
