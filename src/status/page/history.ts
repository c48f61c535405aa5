// The seconds for which each part worked on each of the last 90 days: a part is measured at moments, and each
// measurement counts for the time since the one before. Time in which nobody measured counts as down, from the last
// measurement on: this process runs whenever the node does. A part's first measurement counts for no time.
import { dayOf } from '#base/clock.ts'
import type { PartMeasure, PartState } from './measure.ts'

export const DAYS = 90
const DAY_MS = 86_400_000
/** Trouble of this length shows in the bar of a day. */
const DEGRADED_S = 120
const DOWN_S = 600
/** Periods without a measurement that are lateness and no gap, within the life of one process. */
const LATE_PERIODS = 3

/** Seconds in each state. */
export type DaySeconds = { readonly [State in PartState]: number }
export type PartHistory = {
  readonly state: PartMeasure
  /** Wall time of the measurement that found this state; absent in files of before it was kept. */
  readonly sinceMs?: number
  readonly days: Readonly<Record<string, DaySeconds>>
}
/** The history by the part's id. */
export type StatusHistory = {
  /** Wall time of the newest measurement; 0 before the first. */
  readonly atMs: number
  readonly parts: Readonly<Record<string, PartHistory>>
}

export const NO_HISTORY: StatusHistory = { atMs: 0, parts: {} }

type Moment = {
  readonly nowMs: number
  readonly periodMs: number
  /** The first measurement of a process: nobody measured since the last one of the process before. */
  readonly isStart: boolean
}

/** Adds a measurement. Parts that it does not name are forgotten: the service does not have them any more. */
export function addMeasures(
  history: StatusHistory,
  measures: ReadonlyMap<string, PartMeasure>,
  { nowMs, periodMs, isStart }: Moment,
): StatusHistory {
  const isGap = isStart || nowMs - history.atMs > LATE_PERIODS * periodMs
  const oldest = dayOf(nowMs - (DAYS - 1) * DAY_MS)
  // Empty after a clock that was set back: nothing counts twice.
  const span = { fromMs: Math.max(history.atMs, Date.parse(oldest)), toMs: nowMs }
  const parts = [...measures].map(([id, state]): [string, PartHistory] => {
    const known = history.parts[id]
    const days = new Map(Object.entries(known?.days ?? {}).filter(([day]) => day >= oldest))
    const counted = known === undefined ? undefined : isGap ? stateOfGap(known) : state
    if (counted !== undefined) addTime(days, counted, span)
    const sinceMs = known?.state === state ? (known?.sinceMs ?? nowMs) : nowMs
    return [id, { state, sinceMs, days: Object.fromEntries(days) }]
  })
  return { atMs: nowMs, parts: Object.fromEntries(parts) }
}

/** Of a part that was never measured, nothing is known of a gap either. */
const stateOfGap = ({ state, days }: PartHistory): PartMeasure =>
  state === undefined && Object.keys(days).length === 0 ? undefined : 'down'

type TimeSpan = { readonly fromMs: number; readonly toMs: number }

/** Each second belongs to the day in which it lies. */
function addTime(
  days: Map<string, DaySeconds>,
  state: PartState,
  { fromMs, toMs }: TimeSpan,
): void {
  for (let atMs = fromMs; atMs < toMs;) {
    const endMs = Math.min(toMs, (Math.floor(atMs / DAY_MS) + 1) * DAY_MS)
    const day = days.get(dayOf(atMs)) ?? { ok: 0, degraded: 0, down: 0 }
    days.set(dayOf(atMs), { ...day, [state]: day[state] + (endMs - atMs) / 1000 })
    atMs = endMs
  }
}

/** The days that a page shows, the oldest first. */
export const shownDays = (nowMs: number): readonly string[] =>
  Array.from({ length: DAYS }, (_, index) => dayOf(nowMs - (DAYS - 1 - index) * DAY_MS))

/** The state that the bar of a day shows. */
export function stateOfDay(day: DaySeconds | undefined): PartMeasure {
  if (day === undefined) return undefined
  if (day.down >= DOWN_S) return 'down'
  return day.down + day.degraded >= DEGRADED_S ? 'degraded' : 'ok'
}

/** The time of the last 90 days in which a part was measured. */
export const measuredSeconds = ({ days }: Pick<PartHistory, 'days'>): number =>
  Object.values(days).reduce((sum, { ok, degraded, down }) => sum + ok + degraded + down, 0)

/** The share of the measured time in which a part was not down, in percent, rounded down; undefined where nothing was measured. */
export function upPercent({ days }: PartHistory): string | undefined {
  const measured = measuredSeconds({ days })
  if (measured === 0) return undefined
  const down = Object.values(days).reduce((sum, day) => sum + day.down, 0)
  if (down === 0) return '100'
  return (Math.floor(((measured - down) / measured) * 10_000) / 100).toFixed(2)
}
