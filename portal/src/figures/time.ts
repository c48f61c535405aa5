// Times as text. Tables print exact times of one zone: UTC, or all local by one setting.
import { NBSP } from './digits.ts'

export type Zone = 'UTC' | 'local'

const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

type Parts = { readonly clock: string; readonly day: string; readonly year: number }

function partsOf(at: Date, zone: Zone): Parts {
  const shown = zone === 'UTC' ? at : new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS)
  const iso = shown.toISOString()
  return {
    clock: iso.slice(11, 19),
    day: `${shown.getUTCDate()}${NBSP}${MONTHS[shown.getUTCMonth()]}`,
    year: shown.getUTCFullYear(),
  }
}

/** 09:41:07 UTC; local times have no zone behind them. */
export const clockExact = (at: Date, zone: Zone): string =>
  `${partsOf(at, zone).clock}${zone === 'UTC' ? `${NBSP}UTC` : ''}`

/** 22 Nov 2026, 09:41:07 UTC: for a page without a setting of the zone. */
export const dayAndClock = (at: Date): string =>
  `${partsOf(at, 'UTC').day}${NBSP}${partsOf(at, 'UTC').year}, ${clockExact(at, 'UTC')}`

/** 09:41:07, for columns whose head has the zone. */
export const clock = (at: Date, zone: Zone): string => partsOf(at, zone).clock

/** 22 Nov, and the year where it is not that of `now`. */
export function day(at: Date, zone: Zone, now: Date): string {
  const shown = partsOf(at, zone)
  return shown.year === partsOf(now, zone).year ? shown.day : `${shown.day}${NBSP}${shown.year}`
}

/** For tables: the clock of today, with the day before it for another day. */
export function tableTime(at: Date, zone: Zone, now: Date): string {
  const date = day(at, zone, now)
  const time = clock(at, zone)
  return date === day(now, zone, now) ? time : `${date} ${time}`
}

/** 16:58 UTC of today, 22 Nov 16:58 UTC of another day; local times have no zone behind them. */
export const minuteTime = (at: Date, zone: Zone, now: Date): string =>
  `${tableTime(at, zone, now).slice(0, -':00'.length)}${zone === 'UTC' ? `${NBSP}UTC` : ''}`

/** 3 s ago, 14 min ago, 5 h ago, from a day on 22 Nov. A time to come is "in 3 s". */
export function ago(at: Date, now: Date, zone: Zone): string {
  const ms = now.getTime() - at.getTime()
  if (Math.abs(ms) >= DAY_MS) return day(at, zone, now)
  return ms < 0 ? `in ${span(-ms)}` : `${span(ms)} ago`
}

/** 3 s, 14 min, 5 h: the largest unit, cut off. */
function span(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.floor(ms / 1000)}${NBSP}s`
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}${NBSP}min`
  return `${Math.floor(ms / HOUR_MS)}${NBSP}h`
}

/** 14 h 19 min: what is left of a time. */
export function left(ms: number): string {
  if (ms < HOUR_MS) return span(ms)
  const minutes = Math.floor((ms % HOUR_MS) / MINUTE_MS)
  return `${Math.floor(ms / HOUR_MS)}${NBSP}h ${minutes}${NBSP}min`
}

const YEAR_DAYS = 365.25
const MONTH_DAYS = YEAR_DAYS / 12

/** 3 years and 10 months, 12 days, 5 hours: how long something lasts, cut off. */
export function lasting(days: number): string {
  if (!Number.isFinite(days) || days > 100 * YEAR_DAYS) return 'more than 100 years'
  if (days < 2) return counted(Math.floor(days * 24), 'hour')
  if (days < 2 * MONTH_DAYS) return counted(Math.floor(days), 'day')
  const months = Math.floor(days / MONTH_DAYS)
  if (months < 24) return counted(months, 'month')
  const rest = months % 12
  const years = counted(Math.floor(months / 12), 'year')
  return rest === 0 ? years : `${years} and ${counted(rest, 'month')}`
}

/** Days that a balance lasts at the rate of today; undefined while nothing was used. */
export function daysLeft(balance: bigint, usedToday: bigint, now: Date): number | undefined {
  if (usedToday <= 0n || balance <= 0n) return undefined
  const gone = (now.getTime() % DAY_MS) / DAY_MS
  return (Number(balance) / Number(usedToday)) * gone
}

/** 1 hour, 2 hours. */
export const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? '' : 's'}`
