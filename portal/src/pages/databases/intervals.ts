// The day of a database from its intervals: spans in which its server was awake, and those in which nobody could wake it.
import type { ReplyOf } from '#console/client/operations.ts'
import type { DaySpan } from '#console/parts/day-band.tsx'

export type Interval = ReplyOf<'GET /v1/databases/:database/intervals'>['data'][number]

const WOKEN: Readonly<Record<Interval['woken_by'], string>> = {
  connection: 'a connection',
  backup: 'a backup',
  change: 'a change of the database',
}
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
export const wokenWords = ({ woken_by, role }: Pick<Interval, 'woken_by' | 'role'>): string =>
  role === null ? WOKEN[woken_by] : `${WOKEN[woken_by]} of ${role}`

/** The reason of its sleep, in words. */
export const sleptWords = ({ slept_by }: Pick<Interval, 'slept_by'>): string =>
  slept_by === null ? 'it is awake' : SLEPT[slept_by]

/** Nobody could connect after an interval that ended so. */
const isShut = ({ slept_by }: Interval): boolean =>
  slept_by === 'suspended' || slept_by === 'balance'

type Day = { readonly dayMs: number; readonly nowMs: number }

/** The intervals of a day, the newest first, as its spans in order of time. */
export function spansOf(intervals: readonly Interval[], { dayMs, nowMs }: Day): readonly DaySpan[] {
  const inDay = (time: string | null) =>
    (time === null ? nowMs : Math.max(dayMs, new Date(time).getTime())) - dayMs
  return intervals.toReversed().flatMap((one, nth, all) => {
    const awake = { fromMs: inDay(one.from), toMs: inDay(one.to), cause: causeOf(one) }
    if (!isShut(one)) return [awake]
    const next = all[nth + 1]
    const shut = { fromMs: awake.toMs, toMs: inDay(next?.from ?? null) }
    return [awake, { ...shut, isOff: true, cause: sleptWords(one) } as const]
  })
}

const causeOf = (one: Interval): string =>
  one.to === null
    ? `woken by ${wokenWords(one)}`
    : `woken by ${wokenWords(one)}; ${sleptWords(one)}`

/** The time awake. */
export const lengthOf = (spans: readonly DaySpan[]): number =>
  spans.reduce((sum, { fromMs, toMs, isOff }) => (isOff === true ? sum : sum + toMs - fromMs), 0)
