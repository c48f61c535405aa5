// The day of a resource from its intervals: spans in which it was awake, and those in which nobody could wake it.
import type { ReplyOf } from '#console/client/operations.ts'
import type { DaySpan } from '#console/parts/charts/day-band.tsx'

/** The most that one page has. */
export const INTERVALS_MAX = '1000'

export type Interval = ReplyOf<'GET /v1/databases/:database/intervals'>['data'][number]

/** The words for each waker of a resource of a kind. */
export type Wakers = Readonly<Record<Interval['woken_by'], string>>
const SLEPT: Readonly<Record<NonNullable<Interval['slept_by']>, string>> = {
  idle: 'nobody used it',
  suspended: 'it was suspended',
  budget: 'its energy budget was used up',
  balance: 'the balance was used up',
  change: 'a change needed it stopped',
  failed: 'it did not start',
  stop: 'the node was stopped',
}

/** The words for its waker. */
export const wokenWords = (
  { woken_by, role }: Pick<Interval, 'woken_by' | 'role'>,
  wakers: Wakers,
): string => (role === null ? wakers[woken_by] : `${wakers[woken_by]} of ${role}`)

/** The reason of its sleep, in words. */
export const sleptWords = ({ slept_by }: Pick<Interval, 'slept_by'>): string =>
  slept_by === null ? 'it is awake' : SLEPT[slept_by]

/** After such an end the resource refuses connections. */
const isShut = ({ slept_by }: Interval): boolean =>
  slept_by === 'suspended' || slept_by === 'balance'

type Day = { readonly dayMs: number; readonly nowMs: number; readonly wakers: Wakers }

/** The intervals of a day, the newest first, as its spans in order of time. */
export function spansOf(intervals: readonly Interval[], day: Day): readonly DaySpan[] {
  const { dayMs, nowMs, wakers } = day
  const inDay = (time: string | null) =>
    (time === null ? nowMs : Math.max(dayMs, new Date(time).getTime())) - dayMs
  return joined(intervals).flatMap((one, nth, all) => {
    const fromMs = inDay(one.from)
    // The clock of a page ticks less often than resources begin.
    const awake = { fromMs, toMs: Math.max(fromMs, inDay(one.to)), cause: causeOf(one, wakers) }
    if (!isShut(one)) return [awake]
    const next = all[nth + 1]
    const shut = { fromMs: awake.toMs, toMs: inDay(next?.from ?? null) }
    return [awake, { ...shut, isOff: true, cause: sleptWords(one) } as const]
  })
}

/**
 * In order of time, those that overlap as one: a workload has several instances, and a version starts beside the one
 * before. It has the first waker, and the cause of the last end.
 */
function joined(intervals: readonly Interval[]): readonly Interval[] {
  const spans: Interval[] = []
  for (const one of intervals.toSorted((a, b) => timeOf(a.from) - timeOf(b.from))) {
    const last = spans.at(-1)
    if (last === undefined || timeOf(last.to) < timeOf(one.from)) spans.push(one)
    else if (timeOf(last.to) < timeOf(one.to))
      spans[spans.length - 1] = { ...last, to: one.to, slept_by: one.slept_by }
  }
  return spans
}

/** An open end is the latest. */
const timeOf = (time: string | null): number => (time === null ? Infinity : Date.parse(time))

const causeOf = (one: Interval, wakers: Wakers): string =>
  one.to === null
    ? `woken by ${wokenWords(one, wakers)}`
    : `woken by ${wokenWords(one, wakers)}; ${sleptWords(one)}`

/** The time awake. */
export const lengthOf = (spans: readonly DaySpan[]): number =>
  spans.reduce((sum, { fromMs, toMs, isOff }) => (isOff === true ? sum : sum + toMs - fromMs), 0)
