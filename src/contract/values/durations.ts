// Durations as text: `10s`. Every request and every description file reads them here.

const MS = { h: 3_600_000, m: 60_000, s: 1000, ms: 1 } as const
const DURATION = /^(\d{1,7}) ?(ms|s|m|h)$/

/** The least and the most that is taken, as texts. */
export type DurationRange = { readonly least: string; readonly most: string }

/** Milliseconds of a duration; undefined where it is none, or out of range. */
export function msOfDuration(text: string, { least, most }: DurationRange): number | undefined {
  const ms = read(text)
  return ms >= read(least) && ms <= read(most) ? ms : undefined
}

function read(text: string): number {
  const [, figure, unit] = DURATION.exec(text) ?? []
  return Number(figure) * MS[unit as keyof typeof MS]
}

/** The duration in the greatest unit of which it is a whole number; msOfDuration() reads it again. */
export function durationText(ms: number): string {
  const [unit, length] = Object.entries(MS).find(([, size]) => ms % size === 0) ?? ['ms', 1]
  return `${ms / length}${unit}`
}
