// Rows of the usage by minute as points of the chart of power. Pure.
import type { ReplyOf } from '#console/client/operations.ts'
import type { PowerPoint } from '#console/live/state.ts'

const SPAN_MINUTES = 15
export const MINUTE_MS = 60_000
export const SPAN_MS = SPAN_MINUTES * MINUTE_MS
const SECOND_MS = 1_000

type Row = ReplyOf<'GET /v1/usage'>['data'][number]

/** The begin of the first of the 15 whole minutes before a moment. */
export const fromOf = (toMs: number): number => minuteOf(toMs) - SPAN_MS
const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS

/** A point in the middle of each minute, also of those in which nothing was used. The last one is as long as it lasted. */
export function minutePoints(rows: readonly Row[], toMs: number): readonly PowerPoint[] {
  const byMinute = Map.groupBy(rows, ({ at }) => new Date(at ?? 0).getTime())
  return Array.from({ length: SPAN_MINUTES + 1 }, (_, nth) => fromOf(toMs) + nth * MINUTE_MS)
    .map((fromMs) => ({ fromMs, lengthMs: Math.min(MINUTE_MS, toMs - fromMs) }))
    .filter(({ lengthMs }) => lengthMs >= SECOND_MS)
    .map(({ fromMs, lengthMs }) => {
      const by = Object.fromEntries(
        (byMinute.get(fromMs) ?? []).map(({ group, energy_nj }) => [
          group ?? 'other',
          (BigInt(energy_nj) * BigInt(SECOND_MS)) / BigInt(Math.floor(lengthMs)),
        ]),
      )
      return { atMs: fromMs + lengthMs / 2, by }
    })
}
