// Rows of the usage by minute as points of the chart of power. Pure.
import type { ReplyOf } from '../../client/operations.ts'
import type { PowerPoint } from '../../live/state.ts'

const SPAN_MINUTES = 15
export const MINUTE_MS = 60_000
export const SPAN_MS = SPAN_MINUTES * MINUTE_MS
const SECONDS = 60n

type Row = ReplyOf<'GET /v1/usage'>['data'][number]

/** A point in the middle of each minute, also of those in which nothing was used. */
export function minutePoints(rows: readonly Row[], toMs: number): readonly PowerPoint[] {
  const byMinute = Map.groupBy(rows, ({ at }) => new Date(at ?? 0).getTime())
  return Array.from({ length: SPAN_MINUTES }, (_, nth) => {
    const fromMs = toMs - SPAN_MS + nth * MINUTE_MS
    const by = Object.fromEntries(
      (byMinute.get(fromMs) ?? []).map(({ group, energy_nj }) => [
        group ?? 'other',
        BigInt(energy_nj) / SECONDS,
      ]),
    )
    return { atMs: fromMs + MINUTE_MS / 2, by }
  })
}
