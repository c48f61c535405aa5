// A range of time of the usage page: a preset, or what was dragged in the chart; and the range before it, of the same
// length, for comparison.
import { clock, day, type Zone } from '#console/figures/time.ts'
import { STEP_MS, type Range, type Step } from '#console/parts/charts/range.ts'

export const PRESETS = {
  hour: { title: 'Last hour', ms: 3_600_000, step: 'minute' },
  day: { title: '24 hours', ms: 86_400_000, step: 'hour' },
  week: { title: '7 days', ms: 7 * 86_400_000, step: 'hour' },
  month: { title: '30 days', ms: 30 * 86_400_000, step: 'day' },
} as const
export type Preset = keyof typeof PRESETS
const BARS_MAX = 200

/** Ends at the next whole step, so that the last one is the one that runs. */
export function presetRange(preset: Preset, nowMs: number): Range {
  const { ms, step } = PRESETS[preset]
  const toMs = Math.ceil(nowMs / STEP_MS[step]) * STEP_MS[step]
  return { fromMs: toMs - ms, toMs, step }
}

/** A dragged part, in whole steps of the finest kind that has not too many bars. */
export function narrowed(fromMs: number, toMs: number): Range {
  const [low, high] = fromMs < toMs ? [fromMs, toMs] : [toMs, fromMs]
  const step =
    (['minute', 'hour', 'day'] as const).find((name) => (high - low) / STEP_MS[name] <= BARS_MAX) ??
    'day'
  const size = STEP_MS[step]
  const from = Math.floor(low / size) * size
  return { fromMs: from, toMs: Math.max(Math.ceil(high / size) * size, from + size), step }
}

/** The past is cut to whole ones of these: it is asked for again each time that one has passed. */
const GRAIN_MS: Readonly<Record<Step, number>> = {
  minute: STEP_MS.minute,
  hour: 5 * STEP_MS.minute,
  day: STEP_MS.hour,
}

/** The range before it. One that still runs is compared with as much of the past as has passed of it. */
export function before({ fromMs, toMs, step }: Range, nowMs: number): Range {
  const begin = fromMs - (toMs - fromMs)
  if (nowMs >= toMs) return { fromMs: begin, toMs: fromMs, step }
  const grain = GRAIN_MS[step]
  const passed = Math.floor((nowMs - fromMs) / grain) * grain
  return { fromMs: begin, toMs: begin + Math.max(passed, grain), step }
}

/** True where a range is another one moved by a step at most, as a preset is with the time: not for one that was chosen anew. */
export const isMoved = (range: Range, from: Omit<Range, 'step'>): boolean =>
  Math.abs(range.fromMs - from.fromMs) <= STEP_MS[range.step] &&
  Math.abs(range.toMs - from.toMs) <= STEP_MS[range.step]

/** In the address: `?from=…&to=…`, in seconds. */
export function rangeOf(
  search: { readonly from?: string; readonly to?: string; readonly range?: string },
  nowMs: number,
): Range {
  const [from, to] = [Number(search.from), Number(search.to)]
  if (from > 0 && to > from) return narrowed(from * 1000, to * 1000)
  return presetRange(
    search.range !== undefined && search.range in PRESETS ? (search.range as Preset) : 'day',
    nowMs,
  )
}

/** 25 Nov 03:00 to 26 Nov 03:00 UTC; of whole days, 28 Oct to 26 Nov UTC, both included. */
export function rangeWords({ fromMs, toMs, step }: Range, zone: Zone, now: Date): string {
  const isDays = step === 'day'
  const words = (ms: number): string => {
    const at = new Date(ms)
    const date = day(at, zone, now)
    return isDays ? date : `${date} ${clock(at, zone).slice(0, 5)}`
  }
  const zoneName = zone === 'UTC' ? 'UTC' : 'local time'
  return `${words(fromMs)} to ${words(isDays ? toMs - 1 : toMs)} ${zoneName}`
}
